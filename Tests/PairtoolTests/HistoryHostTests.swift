import CompanionWire
import FoundationEssentials
import Testing

@testable import pairtool

/// The history, with the built host.
@Suite(.serialized, .timeLimit(.minutes(15))) struct HistoryHostTests {
    @Test(
        "A revocation by the host removes its part of the history, whichever command is told of it",
        arguments: [["projects"], ["status"], ["status", "--all-hosts"]]
    )
    func revoked(words: [String]) async throws {
        try await withVerifiedHost { events, host, user in
            #expect(try await user.spawn(["send", "--new", "--project", "garden", "marmalade"]).status == 0)
            #expect(try await user.spawn(["search", "marmalade", "--role", "user"]).status == 0)
            #expect(try await host.spawn(["host", "revoke", "desk"]).status == 0)
            _ = try await events.first("revoked")
            let told = try await user.spawn(words)
            #expect(told.status == 9, "\(told)")
            #expect(try await user.spawn(["search", "marmalade"]).status == 3)
            // The record says so, until the device has paired again.
            let hosts = try await user.spawn(["hosts"])
            #expect(hosts.out.contains(" revoked "), "\(hosts)")
            #expect(try await user.spawn(["hosts", "--json"]).json[0]["revokedAt"]?.string != nil)
            try await user.pair(try await host.newChallenge(), as: "desk")
            #expect(try await user.spawn(["hosts", "--json"]).json[0]["revokedAt"] == nil)
        }
    }

    @Test("What others write in a chat that was read is taken over while it is watched")
    func followed() async throws {
        try await withVerifiedHost { _, host, user in
            #expect(try await user.spawn(["send", "--new", "--project", "garden", "hello"]).status == 0)
            let chat = try await user.spawn(["chats", "-q"]).out.trimmingWhitespace()
            #expect(try await user.spawn(["messages", chat]).status == 0)
            let (_, result) = try await user.follow(["watch", "--json"]) { watch in
                _ = try await watch.events.first("hello")
                try await Sandbox.with { guest in
                    try await guest.pair(try await host.newChallenge(), as: "guest")
                    #expect(try await guest.spawn(["send", chat, "marmalade"]).status == 0)
                }
                _ = try await watch.events.first("turn.finished")
                var status: Int32 = 3
                while status != 0 {
                    status = try await user.spawn(["search", "marmalade", "--role", "user"]).status
                }
                #expect(status == 0)
                #expect(try await host.spawn(["host", "revoke", "desk"]).status == 0)
                try await watch.events.ended()
            }
            #expect(result.status == 9)
        }
    }
}
