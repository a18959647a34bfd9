import CompanionTestSupport
import CompanionWire
import FoundationEssentials
import Identity
import Testing

/// A host that was verified shows another TLS key afterwards.
@Suite(.serialized, .timeLimit(.minutes(15))) struct ChangedKeyTests {
    /// Every command that speaks to a host.
    private static let commands: [[String]] = [
        ["status"], ["status", "--watch"], ["watch"], ["projects"], ["chats"], ["models"], ["devices"],
        ["messages", "dig"], ["send", "dig", "hello"], ["send", "--new", "--project", "garden", "hello"],
        ["projects", "new", "Beans"], ["chats", "new", "garden"], ["chats", "cancel", "dig", "turn"], ["disconnect"],
    ]

    /// The host itself is out of sight: it would be found by its key and used.
    private static let blind = ["PAIRTOOL_INTERFACE": "none0"]

    /// Moves the record of the only paired host of a user.
    private func move(_ user: Sandbox, to port: Int, plainPort: Int?) throws {
        try PairedHostStore(directory: user.directory + "/data/pairtool").update { hosts in
            hosts.hosts[0].endpoint = CompanionEndpoint(address: hosts.hosts[0].endpoint.address, port: port)
            hosts.hosts[0].plainPort = plainPort
            hosts.hosts[0].namedEndpoint = nil
        }
    }

    @Test("Every command names both pins and ends with 1; nothing gets through, and nothing goes by plain HTTP")
    func otherKey() async throws {
        try await withVerifiedHost { events, _, user in
            let pin = try #require(try await events.payload.spki)
            #expect(await user.run("chats", "new", "garden", "--title", "dig").status == 0)
            try await withFakeMac { plain in
                try await withTLSInterceptor(before: events.ports.secure) { interceptor in
                    try move(user, to: interceptor.port, plainPort: plain.port)
                    for command in Self.commands {
                        let result = await user.run(command + ["--json"], environment: Self.blind)
                        #expect(result.status == 1, "\(command) \(result)")
                        #expect(result.out.isEmpty, "\(command)")
                        let code = try result.errorCode
                        #expect(code == "host.pin_mismatch", "\(command)")
                        #expect(result.err.contains(pin), "\(command) \(result.err)")
                        #expect(result.err.contains(interceptor.certificate.spki), "\(command) \(result.err)")
                    }
                    #expect(interceptor.overheard.isEmpty)
                    #expect(plain.requests.isEmpty)
                }
            }
            #expect(await !events.has("turn_started"))
            // At its own port it is the host that it was: nothing was lost over it.
            try await move(user, to: events.ports.secure, plainPort: nil)
            #expect(await user.run("projects").status == 0)
        }
    }

    @Test("Where a verified host was, a server without TLS hears nothing that it can read")
    func noTLS() async throws {
        try await withVerifiedHost { _, _, user in
            try await withFakeMac { plain in
                try move(user, to: plain.port, plainPort: plain.port)
                for command in [["projects"], ["chats", "new", "garden"], ["status"]] {
                    let result = await user.run(command + ["--json"], environment: Self.blind)
                    #expect(result.status == 10, "\(command) \(result)")
                    #expect(result.out.isEmpty)
                }
                #expect(plain.requests.isEmpty)
            }
        }
    }
}
