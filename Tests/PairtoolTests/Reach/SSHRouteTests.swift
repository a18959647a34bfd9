import CompanionWire
import FoundationEssentials
import Testing

@testable import pairtool

/// Hosts that are reached over a real server of ssh, with the built binary on both sides.
@Suite(.serialized, .timeLimit(.minutes(15))) struct SSHRouteTests {
    /// Runs a body with a host that listens on loopback only, and a user who can log in there.
    private func withHost(
        _ body: @escaping @Sendable (_ user: Sandbox, _ ssh: SSHServer, _ events: HostEvents) async throws -> Void
    ) async throws {
        try await withProject { host, user in
            try await withRunningHost(host, ["--project", host.directory + "/garden"]) { events in
                try await SSHServer.with(in: user) { ssh in try await body(user, ssh, events) }
            }
        }
    }

    private func pair(_ user: Sandbox, _ ssh: SSHServer, _ events: HostEvents) async throws -> Sandbox.Result {
        let url = "ssh://127.0.0.1:\(ssh.port)/\(try await events.ports.secure)"
        let code = try await events.payload.code
        return try await user.spawn(
            ["pair", "--url", url, "--code-stdin", "--name", "desk", "--json"],
            stdin: code,
            environment: ssh.environment
        )
    }

    @Test("A host that listens on loopback only is paired with and used over ssh, and both sides say so")
    func mainJob() async throws {
        try await withHost { user, ssh, events in
            let paired = try await pair(user, ssh, events)
            #expect(paired.status == 0, "\(paired.err)")
            #expect(try paired.json[0]["trust"]?.string == "verified")
            let hosts = try await user.spawn(["hosts", "--json"]).json
            #expect(hosts[0]["via"]?.string == "ssh")
            #expect(hosts[0]["address"] == nil, "what is 127.0.0.1 there is another machine here")
            let answer = try await user.spawn(
                ["send", "--new", "--project", "garden", "show README.md"],
                environment: ssh.environment
            )
            #expect(answer.out.contains("Roses and beans."), "\(answer)")
            let devices = try await user.spawn(["devices", "--json"], environment: ssh.environment).json
            #expect(devices[0]["via"]?.string == "ssh")
            let status = try await user.spawn(["status", "--json"], environment: ssh.environment)
            #expect(try status.json[0]["via"]?.string == "ssh", "\(status)")
            let routes = try await user.spawn(["hosts", "routes", "--json"]).json
            #expect(routes.count == 1)
            #expect(routes[0]["isInUse"] == .bool(true))
            let doctor = try await user.spawn(["doctor", "--json", "--interface", "lo"], environment: ssh.environment)
            #expect(doctor.out.contains("via ssh"), "\(doctor.out)")
        }
    }

    @Test("What ssh complains of is said in words that help, and nothing is stored")
    func complaints() async throws {
        try await withHost { user, ssh, events in
            let url = "ssh://127.0.0.1:\(ssh.port)"
            let closed = try await user.spawn(
                ["pair", "--url", url + "/1", "--code-stdin"],
                stdin: "123456",
                environment: ssh.environment
            )
            #expect(closed.status == 10)
            #expect(closed.err.contains("no host listens there at port 1"), "\(closed.err)")
            try ssh.lockUserOut()
            let locked = try await pair(user, ssh, events)
            #expect(locked.status == 10)
            #expect(locked.err.contains("does not let you in"), "\(locked.err)")
            try ssh.forgetServer()
            let unknown = try await pair(user, ssh, events)
            #expect(unknown.status == 10)
            #expect(unknown.err.contains("does not know the key of 127.0.0.1"), "\(unknown.err)")
            let nowhere = try await user.spawn(
                ["pair", "--url", "ssh://no-such-machine.invalid", "--code-stdin"],
                stdin: "123456",
                environment: ssh.environment
            )
            #expect(nowhere.status == 10)
            #expect(nowhere.err.contains("no machine called no-such-machine.invalid"), "\(nowhere.err)")
            #expect(try await user.spawn(["hosts"]).out.isEmpty)
        }
    }

    @Test("A host that is not where it was is reached by its route, and what has changed is said once")
    func fallback() async throws {
        try await withProject { host, user in
            let arguments = ["--project", host.directory + "/garden"]
            try await SSHServer.with(in: user) { ssh in
                try await withRunningHost(host, arguments) { events in
                    let url = "https://127.0.0.1:\(try await events.ports.secure)"
                    let code = try await events.payload.code
                    let paired = try await user.spawn(["pair", "--url", url, "--code-stdin"], stdin: code)
                    #expect(paired.status == 0, "\(paired.err)")
                }
                // It comes back at another port, and is advertised where nobody looks.
                try await withRunningHost(host, arguments) { events in
                    let route = "ssh://127.0.0.1:\(ssh.port)/\(try await events.ports.secure)"
                    let id = try #require(try await user.spawn(["hosts", "-q"]).out.split(separator: "\n").first)
                    let added = try await user.spawn(["hosts", "routes", "add", String(id), route])
                    #expect(added.status == 0, "\(added.err)")
                    #expect(try await user.spawn(["hosts", "routes", "add", String(id), route]).status == 2)
                    let first = try await user.spawn(["projects"], environment: ssh.environment)
                    #expect(first.status == 0, "\(first.err)")
                    #expect(first.err.contains("is reached via ssh now"), "\(first.err)")
                    let second = try await user.spawn(["projects"], environment: ssh.environment)
                    #expect(second.status == 0 && !second.err.contains("reached"), "\(second.err)")
                    let removed = try await user.spawn(["hosts", "routes", "remove", String(id), route])
                    #expect(removed.status == 0, "\(removed.err)")
                }
            }
        }
    }
}
