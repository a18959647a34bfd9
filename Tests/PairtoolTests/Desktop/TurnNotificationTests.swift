import CompanionTestSupport
import FoundationEssentials
import NIOConcurrencyHelpers
import Testing

@testable import pairtool

/// Notifications about turns.
@Suite struct TurnNotificationTests {
    @Test(
        "The end of a long turn is shown with the chat's title and the host's name, unless the user does not want it",
        .enabled(if: PrivateBus.missing.isEmpty, "skipped, missing: \(PrivateBus.missing)")
    )
    func end() async throws {
        try await withFakeMac { mac in
            try await Sandbox.with { user in
                await user.pair(mac)
                try await PrivateBus.with(["notifications", "--can", "body"]) { desktop in
                    func send(_ chat: String, _ options: [String] = [], step: Double = 30) async -> Int32 {
                        let time = NIOLockedValueBox(Date())
                        return await user.run(
                            ["send", chat, "a secret"] + options,
                            environment: desktop.environment,
                            now: {
                                time.withLockedValue {
                                    $0 += step; return $0
                                }
                            }
                        ).status
                    }
                    #expect(await send("CORS", ["--no-notify"]) == 0)
                    #expect(await send("CORS", step: 0) == 0)
                    try user.configure("[notifications]\nfinished = false\n")
                    #expect(await send("CORS") == 0)
                    try user.configure("[notifications]\nquestion = false\n")
                    #expect(await send("Fix the login") == 0)
                    let end = try await desktop.call("Notify")
                    #expect(end["title"] == .text("The answer is there"))
                    #expect(end["body"] == .text("Fix the login, \(mac.endpointText)"))
                    #expect(await send("CORS", ["--queue"]) == 0)
                    let queued = try await desktop.call("Notify") { $0["body"] != end["body"] }
                    #expect(queued["body"] == .text("CORS, \(mac.endpointText)"))
                    mac.change {
                        $0.turns = [FakeMacTurn(steps: [.frame(#"{"type":"error","error":"no roses"}"#), .end])]
                    }
                    #expect(await send("Pagination") == 1)
                    let failure = try await desktop.call("Notify") { $0["title"] != .text("The answer is there") }
                    #expect(failure["title"] == .text("An error ended the answer"))
                    #expect(failure["body"] == .text("Pagination, \(mac.endpointText)"))
                }
            }
        }
    }
}
