import CompanionWire
import Testing

@Suite("Answers to requests for approval")
struct ApprovalAnswerTests {
    private static let yes = ApprovalOption(id: "y", name: "Yes", kind: .allowOnce)
    /// Its name is the word of another kind.
    private static let no = ApprovalOption(id: "n", name: "allow_once", kind: .rejectOnce)
    private static let never = ApprovalOption(id: "N", name: "Never", kind: .rejectAlways)

    @Test(
        "An answer means one option, or the end of the turn",
        arguments: [
            (.allow(always: false), "y"), (.reject(always: false, reason: nil), "n"),
            (.reject(always: true, reason: "no"), "N"), (.option("n"), "n"), (.named("Yes"), "y"), (.named("y"), "y"),
            (.cancelled, nil),
        ] as [(ApprovalAnswer, String?)]
    )
    func found(answer: ApprovalAnswer, id: String?) throws {
        let option = try answer.option(of: [Self.yes, Self.no, Self.never], mayAlways: true)
        #expect(option?.id == id)
    }

    @Test(
        "An answer that is not offered is refused, and the word of a kind is no name",
        arguments: [
            .allow(always: true), .named("allow_once"), .named("reject_once"), .named("n"), .option("z"),
        ] as [ApprovalAnswer]
    )
    func refused(answer: ApprovalAnswer) {
        #expect(throws: ApprovalAnswerError.self) {
            try answer.option(of: [Self.yes, Self.no, Self.never], mayAlways: true)
        }
    }

    @Test("A rejection goes for later requests only where the person may say so", arguments: [true, false])
    func rejection(mayAlways: Bool) throws {
        let answer = ApprovalAnswer.reject(always: false, reason: nil)
        let option = try answer.option(of: [Self.yes, Self.never], mayAlways: mayAlways)
        #expect(option == (mayAlways ? Self.never : nil))
    }
}
