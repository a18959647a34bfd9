import ArgumentParser
import CompanionApp
import CompanionClient
import CompanionWire
import Terminal

struct HostApprovalsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "approvals",
        abstract: "List what the running host's agent asks for, and approve or reject it.",
        discussion: """
            An agent that wants to use a tool waits for your answer. If you do not answer within 30 minutes (pairtool \
            host --question-timeout), the answer is no. Name a question by its id, or by at least its first four \
            characters.

            Examples:
              pairtool host approvals
              pairtool host approvals show 7b0e
              pairtool host approvals approve 7b0e
            """,
        subcommands: [
            List.self, HostApprovalShowCommand.self, HostApproveCommand.self, HostRejectCommand.self,
            HostAnswerCommand.self,
        ],
        defaultSubcommand: List.self
    )

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list",
            abstract: "List the questions that wait for an answer, oldest first.",
            discussion: """
                Examples:
                  pairtool host approvals list
                  pairtool host approvals list --all --json
                """
        )

        @Flag(help: "Also list the questions that no longer need an answer.")
        var all = false

        @OptionGroup var options: OutputOptions

        func run() async throws {
            try await options.output.ownApprovals.list(all: all)
        }
    }
}

struct HostApprovalShowCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Show a question from the agent: the command, or the whole diff.",
        discussion: """
            Examples:
              pairtool host approvals show 7b0e
              pairtool host approvals show 7b0e --json
            """
    )

    @Argument(help: "The question, by id prefix.")
    var id: String

    @OptionGroup var pager: PagerOptions

    @OptionGroup var options: OutputOptions

    func run() async throws {
        let view = options.output.ownApprovals
        try await view.show(view.find(id), avoidsPager: pager.avoidsPager)
    }
}

/// The question that a command answers.
struct HostAnswerOptions: ParsableArguments {
    @Argument(help: "The question, by id prefix.")
    var id: String

    @OptionGroup var options: OutputOptions

    func decide(_ answer: ApprovalAnswer) async throws {
        let view = options.output.ownApprovals
        try await view.decide(view.find(id), with: answer)
    }
}

struct HostApproveCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "approve",
        abstract: "Allow what the agent asks for, once.",
        discussion: """
            Examples:
              pairtool host approvals approve 7b0e
              pairtool host approvals approve 7b0e --always
              pairtool host approvals approve 7b0e --option "Yes, in this folder"
            """
    )

    @Flag(help: "Also allow later questions of the same kind, if the agent offers that.")
    var always = false

    @Option(
        help: "Give this answer, by its name or id (pairtool host approvals show). Default: allow once."
    )
    var option: String?

    @OptionGroup var question: HostAnswerOptions

    func validate() throws {
        if option != nil, always { throw ValidationError("Use --option or --always, not both.") }
    }

    func run() async throws { try await question.decide(option.map { .named($0) } ?? .allow(always: always)) }
}

struct HostRejectCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reject",
        abstract: "Refuse what the agent asks for, once.",
        discussion: """
            Examples:
              pairtool host approvals reject 7b0e
              pairtool host approvals reject 7b0e --never
            """
    )

    @Flag(help: "Also refuse later questions of the same kind, if the agent offers that.")
    var never = false

    @OptionGroup var question: HostAnswerOptions

    func run() async throws { try await question.decide(.reject(always: never, reason: nil)) }
}

struct HostAnswerCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "answer",
        abstract: "Fill in a form that the agent asks for, or open its page.",
        discussion: """
            Examples:
              pairtool host approvals answer 7b0e
              pairtool host approvals answer 7b0e --field branch=main
            """
    )

    @OptionGroup var values: FormValueOptions
    @OptionGroup var question: HostAnswerOptions

    func run() async throws {
        let output = question.options.output
        if values.dismiss { return try await question.decide(.dismissed) }
        let view = output.ownApprovals
        try await view.answer(
            view.find(question.id),
            values: values.given,
            interaction: TerminalInteraction(output: output)
        )
    }
}

extension Output {
    /// The requests of this user's host.
    fileprivate var ownApprovals: ApprovalView {
        ApprovalView(
            output: self,
            approvals: owner,
            name: "your host",
            command: "pairtool host approvals",
            watchCommand: nil
        )
    }
}

extension ApprovalView {
    fileprivate func find(_ word: String) async throws -> Approval {
        try await Approval.find(word, in: approvals, listing: command)
    }
}
