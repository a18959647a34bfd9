import CompanionWire
import NIOConcurrencyHelpers
import PairingAgent
import Testing

/// A user whose answers are known before the questions.
private final class ScriptedInteraction: Interaction {
    /// A message or question, as it was shown.
    let shown = NIOLockedValueBox<[String]>([])
    private let typed: NIOLockedValueBox<[String]>

    init(typing lines: [String] = []) {
        typed = NIOLockedValueBox(lines)
    }

    let canAsk = true

    func say(_ message: String, once: Bool) { show(message) }

    func warn(_ error: any Error, once: Bool) { show("warning: \(error)") }

    func report(_ error: any Error) { show("error: \(error)") }

    func confirm(_ question: String) async throws -> Bool { next(question) == "yes" }

    func choose(_ question: String, from choices: [String]) async throws -> Int? {
        next(question).flatMap { choices.firstIndex(of: $0) }
    }

    func secret(_ question: String) async throws -> String? { next(question) }

    func answer(_ approval: Approval, mayDecide: Bool, mayAlways: Bool) async throws -> ApprovalAnswer? {
        next(approval.title).map { .option($0) }
    }

    private func show(_ text: String) { shown.withLockedValue { $0.append(text) } }

    private func next(_ question: String) -> String? {
        show(question)
        return typed.withLockedValue { $0.isEmpty ? nil : $0.removeFirst() }
    }
}

@Suite("Interaction") struct InteractionTests {
    private static let question = "Six digits that Studio shows: "

    @Test("A user who types no six digits is told so, and asked again")
    func code() async throws {
        let user = ScriptedInteraction(typing: ["12345", "123-456 "])
        #expect(try await user.pairingCode(of: "Studio") == "123456")
        let shown = user.shown.withLockedValue(\.self)
        #expect(shown == [Self.question, "A pairing code has six digits.\n" + Self.question])
    }

    @Test("A user who types nothing gives no code", arguments: [[], ["  "]])
    func noCode(typed: [String]) async {
        let user = ScriptedInteraction(typing: typed)
        let error = await #expect(throws: PairingError.self) { try await user.pairingCode(of: "Studio") }
        #expect(error?.code == .noToken)
    }

    @Test("A muted user is told everything and asked nothing")
    func muted() async throws {
        let user = ScriptedInteraction(typing: ["yes", "yes", "yes", "yes"])
        let muted = MutedInteraction(user)
        muted.say("It moved.")
        muted.warn(PairingError(.expired, "too late"))
        #expect(!muted.canAsk)
        #expect(try await !muted.confirm("Sure?"))
        #expect(try await muted.choose("Which?", from: ["yes"]) == nil)
        #expect(try await muted.secret("Code: ") == nil)
        #expect(try await muted.answer(Self.approval, mayDecide: true, mayAlways: true) == nil)
        let shown = user.shown.withLockedValue(\.self)
        #expect(shown.count == 2 && shown[0] == "It moved.", "\(shown)")
    }

    private static let approval = Approval(
        id: "a-1",
        title: "Run make",
        options: [
            ApprovalOption(id: "y", name: "Yes", kind: .allowOnce),
            ApprovalOption(id: "a", name: "Always", kind: .allowAlways),
        ],
        state: .open
    )
}
