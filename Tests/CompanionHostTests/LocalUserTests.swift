import CompanionHost
import CompanionWire
import Testing

@Suite("Users of one machine", .timeLimit(.minutes(15)), .enabled(if: isRoot, "needs root, to ask as other users"))
struct LocalUserTests {
    private static let start = "/companion/pairing/start"
    private static let complete = "/companion/pairing/complete"
    /// `nobody`, and another one.
    private static let (other, third): (UInt32, UInt32) = (65534, 65533)

    @Test("Another user of the machine gets no code, the host's own user does")
    func pairingStart() async throws {
        try await withHost { host in
            let refused = try await host.raw("POST", Self.start, body: "{}", as: Self.other)
            #expect(
                refused.status == 403
                    && refused.error == "Only the user who runs this host may start a pairing: ask them for a code"
            )
            #expect(!refused.body.contains("code\":"))
            let own = try await host.raw("POST", Self.start, body: "{}", as: nil)
            #expect(try own.decoded(PairingStartResponse.self).code.utf8.count == 6)
        }
    }

    @Test("What the host's own user has paired is no other user's, and no other user ends it")
    func connection() async throws {
        try await withHost { host in
            let id = try #require(try await host.pair().connectedDevice?.id)
            for (method, path) in [
                ("GET", "/companion/projects"), ("POST", "/companion/chats/c/continue"), ("GET", "/companion/devices"),
                ("DELETE", "/companion/devices/\(id)"), ("POST", "/companion/disconnect"),
            ] {
                let reply = try await host.raw(method, path, body: #"{"prompt":"help"}"#, as: Self.other)
                #expect(reply.status == 403, "\(method) \(path)")
                #expect(
                    [
                        "Paired by another user of this machine: pair again as this user",
                        "Only the paired device or the user who runs this host may do this",
                    ].contains(reply.error),
                    "\(path)"
                )
            }
            let status = try await host.raw("GET", "/companion/status", as: Self.other)
            #expect(status.body.contains(#""connected":true"#) && !status.body.contains(id))
            #expect(try await host.raw("GET", "/companion/projects", as: nil).status == 200)
        }
    }

    @Test("With a code from the host another user pairs, and a third one does not have that device")
    func pairedByOther() async throws {
        try await withHost { host in
            let code = try await host.challenge().code
            let body = #"{"pairingCode":"\#(code)","deviceName":"d","devicePublicKey":"k"}"#
            #expect(try await host.raw("POST", Self.complete, body: body, as: Self.other).status == 200)
            #expect(try await host.raw("GET", "/companion/projects", as: Self.other).status == 200)
            #expect(try await host.raw("GET", "/companion/projects", as: nil).status == 200)
            #expect(try await host.raw("GET", "/companion/projects", as: Self.third).status == 403)
            #expect(try await host.raw("POST", "/companion/disconnect", as: Self.third).status == 403)
            #expect(try await host.raw("POST", "/companion/disconnect", as: Self.other).status == 200)
        }
    }
}

@Suite(
    "Users of one machine by its address in the network",
    .timeLimit(.minutes(15)),
    .enabled(if: isRoot && networkAddress() != nil, "needs root and a private network")
)
struct LocalUserByNetworkTests {
    @Test("A device that one user has paired is no other user's", arguments: [65534, nil] as [UInt32?])
    func device(user: UInt32?) async throws {
        let address = try #require(networkAddress())
        try await withHost {
            $0.lan = true
        } _: { host in
            let code = try await host.challenge().code
            let body = #"{"pairingCode":"\#(code)","deviceName":"d","devicePublicKey":"k"}"#
            let complete = "/companion/pairing/complete"
            #expect(try await host.raw("POST", complete, body: body, as: user, at: address).status == 200)
            #expect(try await host.raw("GET", "/companion/projects", as: user, at: address).status == 200)
            for (method, path) in [("GET", "/companion/projects"), ("POST", "/companion/disconnect")] {
                let refused = try await host.raw(method, path, as: 65533, at: address)
                #expect(refused.status == 403, "\(method) \(path)")
            }
            let status = try await host.raw("GET", "/companion/status", as: 65533, at: address)
            #expect(status.body.contains(#""connected":true"#) && !status.body.contains(#""name":"d""#))
            #expect(try await host.raw("POST", "/companion/disconnect", as: user, at: address).status == 200)
        }
    }
}

@Suite("Forms of web pages", .timeLimit(.minutes(15)))
struct FormTests {
    @Test(
        "A form starts no pairing, with and without a body",
        arguments: [
            "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "text/plain",
            "Text/Plain;charset=x",
            " text/plain ",
        ]
    )
    func refused(type: String) async throws {
        try await withHost { host in
            for body in ["", "{}"] {
                let reply = try await host.send("POST", "/companion/pairing/start", body: body, type: type)
                #expect(reply.status == 415 && reply.error == "Forms are refused: send application/json")
            }
        }
    }
}
