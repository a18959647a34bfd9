import CompanionWire

/// Turns an agent's updates of one turn into events for its readers.
struct ACPConversation: Sendable {
    /// Scalars of the title of a tool.
    static let titleLength = 200
    /// The most bytes of a tool's result that readers get.
    static let outputSize = 16 << 10

    /// The directory that the agent works in, from which paths are shown; nil if it is not known.
    var directory: String?

    private struct Call: Sendable {
        /// Its changes are made of ``diffs`` once they are needed.
        var shown: ToolReport
        var diffs: [AgentDiff] = []
        /// Its title in the agent's words, where it is shown otherwise.
        var title: CutText?
        var input: JSONValue?
        /// Content that this version does not know.
        var others: [JSONValue] = []
        /// The text of its result. ``rawOutput`` is the result for the agent's model, ``terminals`` name where else it
        /// wrote. A question shows the text in full.
        var text = CutText()
        var rawOutput = ""
        var terminals: [String] = []
        var inputSize = 0
        var diffSize = 0
        var placeSize = 0
        var otherSize = 0

        /// Bytes that it takes, about.
        var size: Int {
            200 + shown.id.utf8.count + shown.title.utf8.count + (title?.text.utf8.count ?? 0) + inputSize + diffSize
                + placeSize + text.text.utf8.count + rawOutput.utf8.count + otherSize
        }

        /// The result that people see: its text, else the raw output, else the terminals. nil for none, and where the
        /// changes are the result.
        var output: String? {
            if !text.text.isEmpty { return text.cut(to: ACPConversation.outputSize).marked }
            // Its changes are what it gave.
            guard diffs.isEmpty else { return nil }
            if !rawOutput.isEmpty { return rawOutput }
            let lines = terminals.map { "output in the agent's terminal \($0)" }
            guard !lines.isEmpty else { return nil }
            return CutText(lines.joined(separator: "\n"), atMost: ACPConversation.outputSize).marked
        }
    }

    private var calls: [ByteText: Call] = [:]
    private var hasText = false
    /// Whether the next text begins a new paragraph, as it follows a tool.
    private var needsGap = false
    private var lastUsage: Int64?
    /// Updates that were neither text nor thoughts, or empty.
    private(set) var updates = 0
    /// Bytes of all calls, of which those that have ended are small.
    private(set) var openSize = 0
    /// Whether the agent has said or done anything.
    private(set) var hasWorked = false

    /// - Returns: The events that readers get; none for a sign of life.
    mutating func take(_ update: ACPUpdate) -> [TurnEvent] {
        switch update {
        case .agentMessage(let content), .agentThought(let content):
            hasWorked = true
            if content.text.isEmpty { updates += 1 }
        case .tool, .plan:
            hasWorked = true
            updates += 1
        default: updates += 1
        }
        switch update {
        case .agentMessage(let content):
            let text = content.text
            guard !text.isEmpty else { return [] }
            let gap = needsGap && !text.begins(with: "\n") ? "\n\n" : ""
            needsGap = false
            hasText = true
            guard case .media(let media) = content else { return [.text(gap + text)] }
            return [.text(gap + text), .media(media)]
        case .agentThought(let content): return [.thought(content.text)]
        case .tool(let change): return [.tool(merge(change))]
        case .plan(let steps): return [.plan(steps)]
        case .usage(let used):
            lastUsage = used
            return []
        case .linkDone: return [.status("The agent is done with the page that was opened")]
        // The driver knows what the mode is called.
        case .mode, .modes, .userMessage, .other: return []
        }
    }

    /// Returns the last events of a prompt: the tokens that it used, as far as the agent reports them.
    ///
    /// - Parameter answer: The agent's answer to the prompt.
    func finish(_ answer: JSONValue) -> [TurnEvent] {
        let counts = answer["usage"]
        let usage = TurnUsage(
            inputTokens: counts?["inputTokens"]?.integer.map(Int.init),
            outputTokens: counts?["outputTokens"]?.integer.map(Int.init),
            totalTokens: (counts?["totalTokens"]?.integer ?? lastUsage).map(Int.init)
        )
        return usage == TurnUsage() ? [] : [.usage(usage)]
    }

    /// A question as people see it.
    mutating func question(_ question: ACPQuestion) -> ProposedTool {
        hasWorked = true
        // An id that is used again is another call.
        let id = ByteText(question.call.id)
        if calls[id]?.shown.hasEnded == true { keep(nil, id: id) }
        // What is asked about has not ended, whatever the agent says.
        var change = question.call
        if change.status == .completed || change.status == .failed { change.status = .pending }
        _ = merge(change)
        calls[id]?.shown.asked = true
        let known = calls[id]
        let diffs = known?.diffs ?? []
        var call = known?.shown ?? ToolReport(id: change.id, title: "")
        call.changes = diffs.map { $0.change(in: directory) }
        let input = known?.input
        let (directories, hasUnknown) = Self.surroundings(of: input)
        let text = ACPQuestionText(
            call: call,
            diffs: diffs,
            title: known?.title,
            input: input,
            content: known?.text ?? CutText(),
            others: known?.others ?? [],
            directory: directory
        )
        return ProposedTool(
            call: call,
            arguments: text.text,
            command: ACPCommand(input)?.text ?? ACPCommand.member(of: input).map { $0.value.indentedJSON },
            directories: directories,
            hasUnknownArguments: hasUnknown,
            options: question.options
        )
    }

    /// A form as people see it.
    mutating func form(_ form: ACPForm) -> ProposedForm {
        hasWorked = true
        var question = form.question
        question.tool = form.call.flatMap { calls[ByteText($0)]?.shown.title }
        return question
    }

    private mutating func merge(_ change: ACPToolCall) -> ToolReport {
        let id = ByteText(change.id)
        if let known = calls[id]?.shown, known.hasEnded {
            // More of a call that has ended is not kept, unless another one begins with the same id.
            guard change.begins, change.status != .completed, change.status != .failed else { return known }
            keep(nil, id: id)
        }
        if calls[id] == nil { needsGap = hasText }
        var call = calls[id] ?? Call(shown: ToolReport(id: change.id, title: "", asked: false))
        if let input = change.input {
            call.input = input
            call.inputSize = input.size
        }
        if let title = change.title {
            call.shown.title = Self.line(title)
            let isShown = title.trimmingWhitespace().isSame(as: call.shown.title)
            call.title = isShown ? nil : CutText(title, atMost: ACPQuestionText.size)
        }
        if let kind = change.kind { call.shown.kind = Self.line(kind) }
        if let status = change.status { call.shown.status = status }
        if let locations = change.locations {
            call.shown.locations = locations
            call.placeSize = locations.reduce(0) { $0 + $1.path.utf8.count }
        }
        if let diffs = change.diffs {
            call.diffs = diffs
            call.diffSize = diffs.reduce(0) { $0 + $1.path.utf8.count + ($1.old?.utf8.count ?? 0) + $1.new.utf8.count }
        }
        if let output = change.output { call.text = CutText(output, atMost: ACPQuestionText.size) }
        if let others = change.others {
            call.others = others
            call.otherSize = others.reduce(0) { $0 + $1.size }
        }
        if let terminals = change.terminals { call.terminals = terminals }
        if let output = change.rawOutput {
            call.rawOutput = CutText(Self.text(of: output), atMost: Self.outputSize).marked
        }
        call.shown.output = call.output
        if call.shown.title.isEmpty { call.shown.title = call.shown.kind.isEmpty ? "tool" : call.shown.kind }
        if call.shown.hasEnded {
            // Only its name is of use from now on: what it gave may be large.
            let shown = call.shown
            keep(
                Call(shown: ToolReport(id: shown.id, title: shown.title, kind: shown.kind, status: shown.status)),
                id: id
            )
            call.shown.changes = call.diffs.map { $0.change(in: directory) }
        } else {
            keep(call, id: id)
        }
        return call.shown
    }

    private mutating func keep(_ call: Call?, id: ByteText) {
        openSize += (call?.size ?? 0) - (calls[id]?.size ?? 0)
        calls[id] = call
    }

    /// A text as it is, anything else as JSON in one line; empty for an empty object or array.
    private static func text(of value: JSONValue) -> String {
        guard value != [:], value != [] else { return "" }
        return value.string ?? String(decoding: value.json, as: UTF8.self)
    }

    private static func line(_ text: String) -> String {
        let isWhole = text.trimmingWhitespace().unicodeScalars.count <= titleLength
        return isWhole ? text.oneLine(atMost: titleLength) : text.oneLine(atMost: titleLength - 1) + "…"
    }

    /// Members beside a command that do not change what it does.
    private static let harmlessMembers = Set(
        [
            "description", "explanation", "justification", "reason", "title", "timeout", "timeout_ms", "timeoutMs",
            "timeout_seconds", "timeoutSeconds", "initial_wait", "yield_time_ms", "max_output_tokens", "background",
            "is_background", "isBackground", "run_in_background", "call_id", "callId", "parsed_cmd",
        ].map { ByteText($0) }
    )
    /// Members that say where a command runs.
    private static let directoryMembers = Set(
        ["cwd", "workdir", "work_dir", "directory", "dir_path", "working_directory", "workingDirectory"]
            .map { ByteText($0) }
    )

    /// Reads the arguments beside the command: the directories that it runs in, and whether any others may change what
    /// it does.
    private static func surroundings(of input: JSONValue?) -> (directories: [String], hasUnknown: Bool) {
        switch input {
        case nil, .null?, .string?: return ([], false)
        case .object(let members)?:
            let names = ACPCommand(input)?.names ?? ACPCommand.member(of: input).map { [$0.name] } ?? []
            let known = Set(names.map { ByteText($0) })
            var directories: [String] = []
            for (name, value) in members where value != .null && !known.contains(ByteText(name)) {
                if directoryMembers.contains(ByteText(name)), let directory = value.string {
                    directories.append(directory)
                } else if !harmlessMembers.contains(ByteText(name)) {
                    return ([], true)
                }
            }
            return (directories, false)
        case .some: return ([], true)
        }
    }
}
