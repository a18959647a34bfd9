import ArgumentParser
import CompanionApp
import CompanionClient
import CompanionWire
import Terminal

/// The values of a form.
struct FormValueOptions: ParsableArguments {
    @Option(
        name: .customLong("field"),
        help: ArgumentHelp(
            """
            A value of the form. Of a list, several: separated by commas, or by this option again. Default: what the \
            form begins with.
            """,
            valueName: "name=value"
        )
    )
    var fields: [String] = []

    @Flag(help: "Give no answer, neither yes nor no: the agent goes on without one.")
    var dismiss = false

    func validate() throws {
        if dismiss, !fields.isEmpty { throw ValidationError("Use --field or --dismiss, not both.") }
        for field in fields where field.cut(at: "=")?.before.isEmpty ?? true {
            throw ValidationError("--field needs a name and a value, such as --field branch=main.")
        }
    }

    /// The names with their values; nil for none.
    var given: [ApprovalForm.Typed]? {
        guard !fields.isEmpty else { return nil }
        return fields.compactMap { field in
            field.cut(at: "=").map { ApprovalForm.Typed(name: String($0.before), text: String($0.after)) }
        }
    }
}

struct ApprovalAnswerCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "answer",
        abstract: "Fill in a form that an agent asks for, or open its page.",
        discussion: """
            At a terminal, each value is asked for. To decline, use reject.

            Examples:
              pairtool approvals answer 7b0e
              pairtool approvals answer 7b0e --field branch=main --field checks=lint,test
              pairtool approvals answer 7b0e --dismiss
            """
    )

    @OptionGroup var values: FormValueOptions
    @OptionGroup var decision: ApprovalDecisionOptions

    func run() async throws {
        try await decision.with { view, approval in
            if values.dismiss { return try await view.decide(approval, with: .dismissed) }
            try await view.answer(
                approval,
                values: values.given,
                interaction: TerminalInteraction(output: decision.options.output)
            )
        }
    }
}
