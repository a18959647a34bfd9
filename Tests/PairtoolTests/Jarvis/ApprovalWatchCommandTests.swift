import CompanionTestSupport
import FoundationEssentials
import Testing

@testable import pairtool

/// `pairtool approvals --watch`, as the built binary.
@Suite(.timeLimit(.minutes(15))) struct ApprovalWatchCommandTests {
    private static let command = ["approvals", "--watch", "--json", "--interval", "0.05s"]

    @Test("Requests are told as they come and are decided, and an interruption is told; Ctrl-C ends it")
    func watch() async throws {
        try await withPairedJarvis { jarvis, user in
            let (_, result) = try await user.follow(Self.command) { run in
                for id in [FakeJarvisScript.deploy, FakeJarvisScript.mail, FakeJarvisScript.cleanup] {
                    _ = try await run.events.first("added") { $0["approval"]?["id"]?.string == id }
                }
                jarvis.decide(FakeJarvisScript.mail, "rejected")
                let decided = try await run.events.first("decided")
                #expect(decided["approval"]?["id"]?.string == FakeJarvisScript.mail)
                #expect(decided["approval"]?["status"]?.string == "rejected")
                jarvis.change { $0.faults = [FakeJarvisFault(.reset, times: 4)] }
                _ = try await run.events.first("interrupted")
                _ = try await run.events.first("resumed")
                jarvis.change { $0.approvals = [] }
                for id in [FakeJarvisScript.deploy, FakeJarvisScript.cleanup] {
                    _ = try await run.events.first("gone") { $0["approval"]?["id"]?.string == id }
                }
                try run.interrupt()
            }
            #expect(result.status == 130, "\(result)")
        }
    }

    @Test(
        "New requests are shown on the desktop; its buttons approve and reject, and what is decided is taken away",
        .enabled(if: PrivateBus.missing.isEmpty, "skipped, missing: \(PrivateBus.missing)")
    )
    func notifications() async throws {
        try await withPairedJarvis { jarvis, user in
            jarvis.change { $0.approvals[1].reason = "All <b>tests</b> & more\u{1B}" }
            try await PrivateBus.with(["notifications", "--can", "actions", "--can", "body"]) { desktop in
                let (_, result) = try await user.follow(Self.command + ["--notify"], environment: desktop.environment) {
                    run in
                    let deploy = try await desktop.call("Notify") {
                        $0["title"]?.string?.contains("Deploy web") == true
                    }
                    #expect(deploy["title"]?.string == "Approve? Deploy web to production")
                    // A service without markup gets none.
                    #expect(
                        deploy["body"]?.string
                            == "All <b>tests</b> & more␛\nby deployer\nbranch = main\ncommit = 4f2c81d"
                    )
                    #expect(
                        deploy["actions"]
                            == .list([.text("approve"), .text("Approve"), .text("reject"), .text("Reject")])
                    )
                    #expect(deploy["urgency"] == .number(2))
                    let numbers = try await Self.numbers(desktop)
                    let (first, second, third) = (numbers[0], numbers[1], numbers[2])
                    // Another program's word does not count: what was forged before is not decided when the true one
                    // is.
                    try await desktop.tell("forge \(second) approve")
                    try await desktop.tell("choose \(first) approve")
                    let approved = try await run.events.first("decided") {
                        $0["approval"]?["status"]?.string == "approved"
                    }
                    #expect(approved["approval"]?["id"]?.string == FakeJarvisScript.deploy)
                    try await desktop.tell("choose \(second) reject")
                    let rejected = try await run.events.first("decided") {
                        $0["approval"]?["status"]?.string == "rejected"
                    }
                    #expect(rejected["approval"]?["id"]?.string == FakeJarvisScript.mail)
                    jarvis.decide(FakeJarvisScript.cleanup, "approved")
                    _ = try await desktop.call("CloseNotification") { $0["number"] == .number(Double(third)) }
                    try run.interrupt()
                }
                #expect(result.status == 130, "\(result)")
            }
            #expect(
                jarvis.requests("POST", "/").map(\.path) == [
                    "/api/v1/approval/approve/\(FakeJarvisScript.deploy)",
                    "/api/v1/approval/reject/\(FakeJarvisScript.mail)",
                ]
            )
            #expect(jarvis.requests("POST", "/").last?.text == #"{"reason":"Rejected on the desktop"}"#)
        }
    }

    /// The numbers of the notifications for the three requests, oldest first.
    private static func numbers(_ desktop: PrivateBus) async throws -> [Int] {
        var numbers: [Int] = []
        for word in ["Deploy", "Send", "Delete"] {
            let call = try await desktop.call("Notify") { $0["title"]?.string?.hasPrefix("Approve? \(word)") == true }
            guard case .number(let number)? = call["number"] else { throw CancellationError() }
            numbers.append(Int(number))
        }
        return numbers
    }

    @Test(
        "Where notifications have no buttons they are plain, and say what to type; markup is written as text",
        .enabled(if: PrivateBus.missing.isEmpty, "skipped, missing: \(PrivateBus.missing)")
    )
    func plain() async throws {
        try await withPairedJarvis { jarvis, user in
            jarvis.change { $0.approvals = [$0.approvals[1]] }
            // U+0600 and `<` are one character to people, and two to what reads the markup.
            jarvis.change { $0.approvals[0].reason = "<b>&\u{600}<a href='x'>\u{301}" }
            try await PrivateBus.with(["notifications", "--can", "body", "--can", "body-markup"]) { desktop in
                let (_, result) = try await user.follow(Self.command + ["--notify"], environment: desktop.environment) {
                    run in
                    let call = try await desktop.call("Notify")
                    #expect(call["actions"] == .list([]))
                    #expect(
                        call["body"]?.string
                            == "&lt;b&gt;&amp;\u{600}&lt;a href=&#39;x&#39;&gt;\u{301}\nby deployer\nbranch = main\n"
                            + "commit = 4f2c81d\npairtool approvals show 7B0E4A52"
                    )
                    try run.interrupt()
                }
                #expect(result.err.contains("have no buttons"))
            }
        }
    }

    @Test("Without a bus, or without a service on it, the watch goes on and says so")
    func noDesktop() async throws {
        try await withPairedJarvis { _, user in
            for address in ["unix:path=\(user.directory)/nowhere", ""] {
                let (_, result) = try await user.follow(
                    Self.command + ["--notify"],
                    environment: ["DBUS_SESSION_BUS_ADDRESS": address]
                ) { run in
                    _ = try await run.events.first("added")
                    try run.interrupt()
                }
                #expect(result.status == 130 && result.err.contains("approvals.no_notifications"), "\(result)")
            }
        }
    }

    @Test(
        "A service that answers with something else shows nothing, and a bus that hangs up does not end the watch",
        .enabled(if: PrivateBus.missing.isEmpty, "skipped, missing: \(PrivateBus.missing)")
    )
    func brokenDesktop() async throws {
        try await withPairedJarvis { jarvis, user in
            try await PrivateBus.with(["odd"]) { desktop in
                let (_, result) = try await user.follow(Self.command + ["--notify"], environment: desktop.environment) {
                    run in
                    _ = try await run.events.first("added")
                    try run.interrupt()
                }
                #expect(result.err.contains("does not say what it can do"), "\(result)")
            }
            try await PrivateBus.with(["notifications", "--can", "actions"]) { desktop in
                let (_, result) = try await user.follow(Self.command + ["--notify"], environment: desktop.environment) {
                    run in
                    _ = try await desktop.call("Notify")
                    try await desktop.tell("hang_up")
                    jarvis.decide(FakeJarvisScript.mail, "rejected")
                    _ = try await run.events.first("decided")
                    jarvis.change { $0.approvals = [] }
                    _ = try await run.events.first("gone")
                    try run.interrupt()
                }
                #expect(result.status == 130, "\(result)")
            }
        }
    }
}
