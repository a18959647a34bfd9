import CompanionTestSupport
import CompanionWire
import FoundationEssentials
import Testing

@testable import pairtool

/// Hosts that are reached over a real relay, with the built binary on both sides.
@Suite(.serialized, .timeLimit(.minutes(15))) struct RelayRouteTests {
    /// Runs a body with a host that has joined a relay, and its QR code.
    ///
    /// - Parameter isAsking: Whether it has an agent that asks when it is told to.
    private func withHost(
        isAsking: Bool = false,
        _ body: @escaping @Sendable (Place) async throws -> Void
    ) async throws {
        try await withRelayServer { relay in
            try await withProject { host, user in
                var arguments = [
                    "--project", host.directory + "/garden", "--relay", "\(relay.address)", "--qr-file",
                    host.directory + "/qr.png",
                ]
                if isAsking {
                    let agent = try FakeACPAgent.command(in: host.directory).joined(separator: " ")
                    arguments += ["--acp", "--agent-command", agent]
                }
                try await withRunningHost(host, arguments) { events in
                    _ = try await events.first("challenge")
                    try await body(Place(relay: relay, host: host, user: user, events: events))
                }
            }
        }
    }

    private struct Place: Sendable {
        var relay: RelayServer
        var host: Sandbox
        var user: Sandbox
        var events: HostEvents

        /// Pairs by the QR code over the relay alone.
        func pair() async throws -> Sandbox.Result {
            let payload = try await events.payload
            guard case .relay(let route)? = payload.relayRoutes.first else { throw CancellationError() }
            let url = "\(RelayRoute(relay: relay.address, host: route.host))"
            return try await use([
                "pair", "--qr", host.directory + "/qr.png", "--url", url, "--name", "desk", "--json",
            ])
        }

        /// Waits until the host has joined the relay, and pairs.
        func joinedAndPaired() async throws {
            try await joined()
            let paired = try await pair()
            #expect(paired.status == 0, "\(paired)")
        }

        /// Runs a command of the user's.
        func use(_ arguments: [String]) async throws -> Sandbox.Result {
            try await user.spawn(arguments, environment: Sandbox.elsewhere)
        }

        /// Waits until the host has joined the relay.
        func joined() async throws {
            while true {
                let status = try await host.spawn(["host", "status", "--json"])
                if status.out.contains("\"joined\"") { return }
            }
        }
    }

    @Test("A host is paired with by its QR code and used over a relay, and both sides say so")
    func mainJob() async throws {
        try await withHost { place in
            try await place.joined()
            let paired = try await place.pair()
            #expect(paired.status == 0, "\(paired.err)")
            #expect(try paired.json[0]["trust"]?.string == "verified")
            let answer = try await place.use(["send", "--new", "--project", "garden", "show README.md"])
            #expect(answer.out.contains("Roses and beans."), "\(answer)")
            let status = try await place.use(["status", "--json"])
            #expect(try status.json[0]["via"]?.string == "relay", "\(status)")
            let devices = try await place.use(["devices", "--json"]).json
            #expect(devices[0]["via"]?.string == "relay")
            let audit = try await place.host.spawn(["host", "audit", "--json"])
            #expect(audit.out.contains("device.reached"), "\(audit.out)")
        }
    }

    @Test("A device that was revoked is not let in by the relay any more")
    func revoked() async throws {
        try await withHost { place in
            try await place.joinedAndPaired()
            #expect(try await place.host.spawn(["host", "revoke", "desk"]).status == 0)
            let refused = try await place.use(["projects"])
            #expect([9, 10].contains(refused.status), "\(refused)")
        }
    }

    @Test("A device that may come directly only is refused over a relay, and let in again")
    func limited() async throws {
        try await withHost { place in
            try await place.joinedAndPaired()
            let limit = try await place.host.spawn(["host", "permissions", "desk", "--via", "direct"])
            #expect(limit.out.contains("only via direct"), "\(limit)")
            let refused = try await place.use(["projects"])
            #expect(refused.status == 9, "\(refused)")
            #expect(try await place.host.spawn(["host", "permissions", "desk", "--via", "any"]).status == 0)
            #expect(try await place.use(["projects"]).status == 0)
        }
    }

    @Test("A device that has decided on the host's own machine decides nothing over a relay any more")
    func here() async throws {
        try await withHost(isAsking: true) { place in
            try await place.joinedAndPaired()
            let url = "https://127.0.0.1:\(try await place.events.ports.secure)"
            let id = try #require(try await place.use(["hosts", "-q"]).out.split(separator: "\n").first)
            let near = ["hosts", "routes", "add", String(id), url],
                far = ["hosts", "routes", "remove", String(id), url]
            // Over the relay, as long as it was never here.
            try await decide(at: place) { #expect($0.status == 0, "\($0)") }
            #expect(try await place.use(near).status == 0)
            try await decide(at: place) { #expect($0.status == 0, "\($0)") }
            #expect(try await place.use(far).status == 0)
            try await decide(at: place) { refused in
                #expect(refused.status == 9, "\(refused)")
                #expect(refused.err.contains("only without a relay and without ssh"), "\(refused)")
            }
            let audit = try await place.host.spawn(["host", "audit", "--json"])
            #expect(audit.out.contains("approval.decide"), "\(audit.out)")
        }
    }

    /// Has the agent ask, and the user approve, whose attempt is looked at. Then the owner answers what is still open.
    private func decide(at place: Place, _ look: @escaping @Sendable (Sandbox.Result) -> Void) async throws {
        let words = ["send", "--new", "--project", "garden", "ask", "--json"]
        let (_, result) = try await place.user.follow(words, environment: Sandbox.elsewhere) { run in
            let id = try #require(try await run.events.first("approval_asked")["approvalId"]?.string)
            look(try await place.use(["approvals", "approve", id]))
            _ = try await place.host.spawn(["host", "approvals", "reject", id])
            _ = try await run.events.first("finished")
        }
        #expect(result.status == 0, "\(result)")
    }

    @Test("Six digits are not enough over a relay, not even the right ones")
    func digits() async throws {
        try await withHost { place in
            try await place.joined()
            let payload = try await place.events.payload
            guard case .relay(let route)? = payload.relayRoutes.first else { throw CancellationError() }
            let url = "\(RelayRoute(relay: place.relay.address, host: route.host))"
            let refused = try await place.user.spawn(["pair", "--url", url, "--code-stdin"], stdin: payload.code)
            #expect(refused.status == 9, "\(refused)")
            #expect(refused.err.contains("QR code"), "\(refused.err)")
        }
    }

    @Test("A device that is revoked while it follows events over a relay is cut off, and gets no connection any more")
    func revokedWhileWatching() async throws {
        try await withHost { place in
            try await place.joinedAndPaired()
            _ = try await place.user.follow(["watch", "--json"], environment: Sandbox.elsewhere) { watch in
                _ = try await watch.events.first("hello")
                #expect(try await place.host.spawn(["host", "revoke", "desk"]).status == 0)
                // Its calls are refused before anything is said: to the device, the host is not there.
                _ = try await watch.events.first("interrupted")
                try watch.interrupt()
            }
            #expect(try await place.use(["projects"]).status != 0)
        }
    }

    @Test("A relay that shows another certificate than its address has is not joined")
    func otherCertificate() async throws {
        try await withRelayServer { relay in
            try await withProject { host, _ in
                let other = "?id=PN3LRSE-DF4P7VF-ZH543TL-KPU6QVW-HABPZLA-DHNWEDD-MJV3N7D-UTJXPAE"
                let address = "relay://\(relay.address.authority)/\(other)"
                try await withRunningHost(host, ["--project", host.directory + "/garden", "--relay", address]) { _ in
                    var status = ""
                    while !status.contains("\"failed\"") {
                        status = try await host.spawn(["host", "status", "--json"]).out
                    }
                    #expect(status.contains("another id") || status.contains("not the one"), "\(status)")
                }
            }
        }
    }

    @Test("An existing pairing learns the relay over the verified connection")
    func learned() async throws {
        try await withHost { place in
            let url = "https://127.0.0.1:\(try await place.events.ports.secure)"
            let code = try await place.events.payload.code
            let paired = try await place.user.spawn(["pair", "--url", url, "--code-stdin"], stdin: code)
            #expect(paired.status == 0, "\(paired.err)")
            #expect(try await place.user.spawn(["projects"]).status == 0)
            let routes = try await place.user.spawn(["hosts", "routes", "--json"]).json
            #expect(routes.map { $0["rung"]?.string } == ["direct", "relay"])
            #expect(routes[0]["isInUse"] == .bool(true), "it is reached directly")
        }
    }

    @Test("A relay that comes back is joined again, and one that is lost is shown")
    func restart() async throws {
        try await withHost { place in
            try await place.joined()
            place.relay.kill()
            while try await !place.host.spawn(["host", "status", "--json"]).out.contains("\"failed\"") {}
            try await place.relay.restart()
            try await place.joinedAndPaired()
        }
    }

    @Test("relay check tells the id and the speed, and fails for another id")
    func check() async throws {
        try await withRelayServer { relay in
            try await Sandbox.with { user in
                let found = try await user.spawn(["relay", "check", "\(relay.address)", "--json"])
                #expect(found.status == 0, "\(found)")
                #expect(try found.json[0]["isExpected"] == .bool(true))
                let plain = "relay://\(relay.address.authority)/"
                #expect(try await user.spawn(["relay", "check", plain]).out.contains("\(relay.address)"))
                let other = plain + "?id=PN3LRSE-DF4P7VF-ZH543TL-KPU6QVW-HABPZLA-DHNWEDD-MJV3N7D-UTJXPAE"
                let wrong = try await user.spawn(["relay", "check", other])
                #expect(wrong.status == 1, "\(wrong)")
                #expect(try await user.spawn(["relay", "check", "relay://"]).status == 2)
            }
        }
    }

    @Test("The unit announces the relay to nobody, and systemd takes it")
    func unit() async throws {
        try await Sandbox.with { user in
            let unit = try await user.spawn(["relay", "unit"])
            #expect(unit.out.contains("-pools \"\" -status-srv \"\""))
            #expect(try await user.spawn(["relay", "unit", "--port", "0"]).status == 2)
        }
    }
}
