import ArgumentParser
import CompanionApp
import CompanionClient
import CompanionHost
import CompanionWire
import FoundationEssentials
import PairingAgent

struct HostApprovalsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "approvals",
        abstract: "List what the running host's agent asks, and approve or reject it.",
        discussion: """
            An agent that wants to use a tool waits for your answer. Without one, the answer is no after 30 minutes \
            (pairtool host --question-timeout). Name a question by its id, or by at least four characters of it.

            Examples:
              pairtool host approvals
              pairtool host approvals show 7b0e
              pairtool host approvals approve 7b0e
            """,
        subcommands: [List.self, HostApprovalShowCommand.self, HostApproveCommand.self, HostRejectCommand.self],
        defaultSubcommand: List.self
    )

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list",
            abstract: "List the questions that wait for an answer, the oldest first.",
            discussion: """
                Examples:
                  pairtool host approvals list
                  pairtool host approvals list --all --json
                """
        )

        @Flag(help: "Also list the questions that need no answer any more.")
        var all = false

        @OptionGroup var options: OutputOptions

        func run() async throws {
            let output = options.output
            let questions = try await output.hostQuestions(all: all)
            guard !questions.isEmpty else {
                throw AppError(.nothingFound, "approvals.none", "no question is waiting")
            }
            let now = output.context.now()
            var columns: [TableColumn<Approval>] = [
                TableColumn("ID", rank: 0) { $0.id.shortID },
                TableColumn("WANTS TO", shrinks: true, rank: 0) { $0.title },
                TableColumn("KIND", rank: 2) { $0.kind.isEmpty ? "–" : $0.kind },
                TableColumn("ASKED", rank: 3) { TimeText.ago($0.askedAt, now: now) },
                TableColumn("STATE", rank: 1) { $0.stateText(now: now) },
            ]
            columns += TableColumn.mode(questions) { $0.mode }
            output.list(questions, columns: columns, id: \.id)
            if output.format == .text { output.say("Next: pairtool host approvals show ID") }
        }
    }
}

struct HostApprovalShowCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Show a question of the agent: the command, or the whole difference.",
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
        let output = options.output
        let question = try await output.hostQuestion(id)
        try await Pager.with(output, isWanted: !pager.avoidsPager) { output, _ in
            output.result(question, id: question.id) { question.text(now: output.context.now()) }
        }
    }
}

/// The question that a command answers.
struct HostAnswerOptions: ParsableArguments {
    @Argument(help: "The question, by id prefix.")
    var id: String

    @OptionGroup var options: OutputOptions

    /// - Parameters:
    ///   - always: Whether later questions of its kind get the same answer.
    ///   - option: The answer's name or id; nil for the usual one.
    func answer(approve: Bool, always: Bool, option: String? = nil) async throws {
        let output = options.output
        var request = AdminRequest(.answer)
        request.question = try await output.hostQuestion(id).id
        request.approve = approve
        request.always = always
        request.option = option
        guard var question = try await output.ask(request).questions?.first else { throw AppError.strangeAnswer }
        let waits = approve && output.format != .quiet
        if waits, output.format == .json { question.continuedAt = try await continuation(question) }
        output.result(question, id: question.id) {
            let answer = question.chosen.map { " (“\($0)”)" } ?? ""
            return TerminalText.line("\(approve ? "Approved" : "Rejected"): \(question.title)\(answer).")
        }
        if waits, output.format == .text {
            let time = try await continuation(question)
            output.sayContinuation(time, next: "pairtool host approvals show \(question.id.shortID)")
        }
    }

    /// When the agent went on, if it does so soon.
    private func continuation(_ question: Approval) async throws -> Date? {
        var request = AdminRequest(.questions)
        request.question = question.id
        return try await ContinuationWait().run { [request, options] in
            try await options.output.ask(request).questions?.first?.continuedAt
        }
    }
}

struct HostApproveCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "approve",
        abstract: "Allow what the agent asks, once.",
        discussion: """
            Examples:
              pairtool host approvals approve 7b0e
              pairtool host approvals approve 7b0e --always
              pairtool host approvals approve 7b0e --option "Yes, in this folder"
            """
    )

    @Flag(help: "Also allow later questions of its kind, if the agent offers that.")
    var always = false

    @Option(
        help: "Give this answer, by its name or id (pairtool host approvals show). Default: the one for yes, once."
    )
    var option: String?

    @OptionGroup var question: HostAnswerOptions

    func validate() throws {
        if option != nil, always { throw ValidationError("Use --option or --always, not both.") }
    }

    func run() async throws { try await question.answer(approve: true, always: always, option: option) }
}

struct HostRejectCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reject",
        abstract: "Refuse what the agent asks, once.",
        discussion: """
            Examples:
              pairtool host approvals reject 7b0e
              pairtool host approvals reject 7b0e --never
            """
    )

    @Flag(help: "Also refuse later questions of its kind, if the agent offers that.")
    var never = false

    @OptionGroup var question: HostAnswerOptions

    func run() async throws { try await question.answer(approve: false, always: never) }
}

extension Output {
    fileprivate func hostQuestions(all: Bool) async throws -> [Approval] {
        var request = AdminRequest(.questions)
        request.all = all
        return try await ask(request).questions ?? []
    }

    /// The question that the user named, with all that it is about.
    fileprivate func hostQuestion(_ word: String) async throws -> Approval {
        let found = try NameMatch.find(
            word,
            in: try await hostQuestions(all: true),
            kind: "question",
            listing: "pairtool host approvals",
            ids: { [$0.id] },
            names: { _ in [] }
        )
        var request = AdminRequest(.questions)
        request.question = found.id
        guard let question = try await ask(request).questions?.first else { throw AppError.strangeAnswer }
        return question
    }
}

extension Approval {
    func stateText(now: Date) -> String {
        switch state {
        case .open:
            expiresAt.map { "\(TimeText.span(max($0.timeIntervalSince(now), 0))) left" } ?? state.rawValue
        case .interrupted: "host restarted"
        default: state.rawValue
        }
    }

    private var decisionText: String {
        decidedBy.map { person in ": \(person)" + (chosen.map { " chose “\(ApprovalOption.shown($0))”" } ?? "") } ?? ""
    }

    func text(now: Date) -> String {
        var lines = [
            "wants to  \(title)\(kind.isEmpty ? "" : " (\(kind))")",
            "chat      \(chatId)",
            "asked     \(TimeText.ago(askedAt, now: now))",
            "state     \(stateText(now: now))" + decisionText,
            "answers   \((options ?? []).offered)",
        ].map(TerminalText.line)
        if let mode { lines.append(TerminalText.line("mode      \(mode.name)")) }
        if let continuedAt { lines.append("went on   \(TimeText.ago(continuedAt, now: now))") }
        if let arguments, !arguments.isEmpty { lines += ["", TerminalText.block(arguments)] }
        if state == .open {
            lines += ["", "To answer: pairtool host approvals approve \(id.shortID), or reject \(id.shortID)"]
        }
        return lines.joined(separator: "\n")
    }
}
