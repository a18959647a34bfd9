import CompanionHost
import CompanionWire
import Testing

@Suite("Who may ask for what", .timeLimit(.minutes(15)))
struct AddressRuleTests {
    private static let gated = [
        ("GET", "/companion/projects"), ("GET", "/companion/projects/x/chats"),
        ("GET", "/companion/chats/x/messages"), ("POST", "/companion/chats/x/continue"),
    ]

    @Test("Without a connected device gated requests are 403, before anything else is looked at", arguments: gated)
    func notConnected(method: String, path: String) async throws {
        try await withHost { host in
            let reply = try await host.send(method, path)
            #expect(reply.status == 403 && reply.error == "No paired companion device connected")
        }
    }

    @Test("Gated requests are served to the address that paired and to no other", arguments: gated)
    func otherAddress(method: String, path: String) async throws {
        try await withHost { host in
            let code = try await host.challenge().code
            let body = #"{"pairingCode":"\#(code)","deviceName":"d","devicePublicKey":"k"}"#
            let paired = try await host.raw("POST", "/companion/pairing/complete", body: body, from: "127.0.0.2")
            #expect(paired.status == 200)
            let other = try await host.raw(method, path)
            #expect(other.status == 403 && other.error == "Paired from another address: pair again from this machine")
            let same = try await host.raw(method, path, from: "127.0.0.2")
            #expect(same.status == (method == "GET" ? 200 : 400))
        }
    }

    @Test("A superseded device's address is not served any more")
    func superseded() async throws {
        try await withHost { host in
            try await host.pair(key: "one")
            let code = try await host.post("/companion/pairing/start", "").decoded(PairingStartResponse.self).code
            let body = #"{"pairingCode":"\#(code)","deviceName":"d","devicePublicKey":"two"}"#
            #expect(
                try await host.raw("POST", "/companion/pairing/complete", body: body, from: "127.0.0.3").status == 200
            )
            #expect(try await host.get("/companion/projects").status == 403)
        }
    }

    @Test("An agent whose command is gone is 401, after both 403s, and shows in /auth/status and /models")
    func agentGone() async throws {
        try await withTemporaryDirectory { directory in
            let script = directory + "/agent"
            try write("#!/bin/sh\ncat\n", to: script)
            try makeExecutable(script)
            try await withHost(in: directory) {
                $0.agent = .command([script])
            } _: { host in
                #expect(try await host.get("/auth/status").decoded(CompanionAuthStatusResponse.self).authenticated)
                try removeFile(script)
                #expect(try await host.get("/companion/projects").status == 403)
                try await host.pair()
                let reply = try await host.get("/companion/projects")
                #expect(reply.status == 401 && reply.error == "Copilot auth is required on Mac host")
                #expect(try await host.raw("GET", "/companion/projects", from: "127.0.0.9").status == 403)
                #expect(
                    try await host.get("/auth/status").decoded(CompanionAuthStatusResponse.self).authenticated == false
                )
                #expect(try await host.get("/models").status == 500)
            }
        }
    }

    @Test(
        "From the network nobody starts a pairing, and only the paired address manages devices",
        .enabled(if: networkAddress() != nil, "needs a private network: scripts/in-private-network")
    )
    func fromTheNetwork() async throws {
        let address = try #require(networkAddress())
        try await withHost {
            $0.lan = true
        } _: { host in
            func network(_ method: String, _ path: String, _ body: String = "") async throws -> Reply {
                try await host.raw(method, path, body: body, to: address, from: address)
            }
            let status = try await host.pair()
            let id = try #require(status.connectedDevice?.id)
            let start = try await network("POST", "/companion/pairing/start")
            #expect(start.status == 403 && start.error == "Pairing can only be started on the host machine itself")
            for (method, path) in [
                ("POST", "/companion/disconnect"), ("DELETE", "/companion/devices/\(id)"),
                ("GET", "/companion/devices"),
            ] {
                let reply = try await network(method, path)
                #expect(
                    reply.status == 403
                        && reply.error == "Only the paired device or the host machine itself may do this",
                    "\(path)"
                )
            }
            let seen = try await network("GET", "/companion/status")
            #expect(seen.body.contains(#""connected":true"#) && seen.body.contains(#""connectedDevice":null"#))
            #expect(try await host.get("/companion/projects").status == 200)
            let code = try await host.post("/companion/pairing/start", "").decoded(PairingStartResponse.self).code
            let body = #"{"pairingCode":"\#(code)","deviceName":"d","devicePublicKey":"k"}"#
            let complete = try await network("POST", "/companion/pairing/complete", body)
            #expect(try complete.decoded(CompanionStatusResponse.self).connectedDevice?.name == "d")
            let own = try await network("GET", "/companion/status").decoded(CompanionStatusResponse.self)
            #expect(own.connectedDevice?.name == "d")
            let listed = try await network("GET", "/companion/devices").decoded(DevicesListResponse.self)
            #expect(listed.devices.elements.count == 2)
            #expect(try await host.get("/companion/devices").status == 200)
            #expect(try await network("GET", "/companion/projects").status == 200)
            #expect(try await host.get("/companion/projects").status == 403)
            #expect(try await network("DELETE", "/companion/devices/\(id)").status == 200)
            #expect(try await network("POST", "/companion/disconnect").status == 200)
            let gone = try await network("GET", "/companion/status")
            #expect(gone.body.contains(#""connected":false"#) && gone.body.contains(#""connectedDevice":null"#))
            #expect(try await network("GET", "/companion/devices").status == 403)
            #expect(try await network("DELETE", "/companion/devices/x").status == 403)
        }
    }

    @Test("Loopback may always manage devices")
    func loopbackManages() async throws {
        try await withHost { host in
            let code = try await host.challenge().code
            let body = #"{"pairingCode":"\#(code)","deviceName":"d","devicePublicKey":"k"}"#
            _ = try await host.raw("POST", "/companion/pairing/complete", body: body, from: "127.0.0.2")
            #expect(try await host.post("/companion/disconnect", "").status == 200)
            #expect(try await host.raw("GET", "/companion/projects", from: "127.0.0.2").status == 403)
        }
    }
}
