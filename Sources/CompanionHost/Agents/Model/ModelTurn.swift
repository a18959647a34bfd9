import CompanionWire
import Providers

/// One turn of a model: asks it, carries out the tools that it calls, and asks again, until it has answered.
struct ModelTurn {
    let launch: ModelLaunch
    let model: String
    let directory: String
    let tools: [ModelTool]
    let client: ProviderClient
    var conversation: ModelConversation
    let emit: @Sendable (TurnEvent) -> Void
    let keepAlive: @Sendable () -> Void
    let sleep: @Sendable (Duration) async throws -> Void

    private var calls = 0
    private var hasText = false
    private var waited = Duration.zero
    private var hasHalved = false
    private var usage = TurnUsage()

    /// The answer to one request.
    private struct Answer {
        var text = ""
        var calls: [ProviderToolCall] = []
        var ending = ProviderEvent.Reason.complete
        var usage: (input: Int?, output: Int?)
        var hasBegun = false
    }

    init(
        launch: ModelLaunch,
        model: String,
        directory: String,
        tools: [ModelTool],
        client: ProviderClient,
        conversation: ModelConversation,
        emit: @escaping @Sendable (TurnEvent) -> Void,
        keepAlive: @escaping @Sendable () -> Void,
        sleep: @escaping @Sendable (Duration) async throws -> Void
    ) {
        self.launch = launch
        self.model = model
        self.directory = directory
        self.tools = tools
        self.client = client
        self.conversation = conversation
        self.emit = emit
        self.keepAlive = keepAlive
        self.sleep = sleep
    }

    /// - Throws: ``AgentError``; `CancellationError`.
    mutating func answer() async throws {
        for _ in 0..<ModelAgent.rounds {
            let answer = try await ask()
            count(answer.usage)
            guard !answer.calls.isEmpty else { return try finish(answer.ending) }
            let results = try await use(answer.calls)
            conversation.add(answer.text, calls: answer.calls, results: results)
        }
        throw AgentError(
            message: "\(model) used tools \(ModelAgent.rounds) times in a row without an answer: the turn was ended"
        )
    }

    private func finish(_ ending: ProviderEvent.Reason) throws(AgentError) {
        if usage != TurnUsage() {
            var usage = usage
            usage.model = model
            emit(.usage(usage))
        }
        switch ending {
        case .complete: break
        case .length: emit(.status("The answer ends at the model's token limit"))
        case .blocked: throw AgentError(message: "A filter of \(launch.endpoint.name) ended the answer")
        }
        guard hasText else {
            throw AgentError(message: "\(model) returned an empty answer. Send the prompt again")
        }
    }

    private mutating func count(_ counted: (input: Int?, output: Int?)) {
        usage.inputTokens = TurnUsage.sum(usage.inputTokens, counted.input)
        usage.outputTokens = TurnUsage.sum(usage.outputTokens, counted.output)
        usage.totalTokens = TurnUsage.sum(usage.inputTokens, usage.outputTokens)
    }
}

extension ModelTurn {
    /// Asks once, and again after a failure that can be fixed.
    private mutating func ask() async throws -> Answer {
        while true {
            let prompt = try conversation.request()
            var answer = Answer()
            // What it says behind a tool is another paragraph.
            var gap = hasText ? "\n\n" : ""
            do {
                try await client.answer(prompt, from: launch.endpoint) { event in
                    answer.hasBegun = true
                    switch event {
                    case .text(let text):
                        answer.text += text
                        emit(.text(gap + text))
                        gap = ""
                    case .thought(let text): emit(.thought(text))
                    case .toolCall(let call):
                        answer.calls.append(call)
                        keepAlive()
                    case .usage(let input, let output):
                        answer.usage = (input ?? answer.usage.input, output ?? answer.usage.output)
                    case .finished(let reason): answer.ending = reason
                    }
                }
                if !answer.text.isEmpty { hasText = true }
                return answer
            } catch let error as ProviderError {
                if !answer.text.isEmpty { hasText = true }
                guard !answer.hasBegun, try await mend(error) else { throw try await described(error) }
            }
        }
    }

    /// - Returns: Whether it is worth another request.
    private mutating func mend(_ error: ProviderError) async throws -> Bool {
        switch error.code {
        case .rateLimited, .overloaded:
            let wait = max(error.retryAfter ?? .seconds(5), .seconds(1))
            guard waited + wait <= ModelAgent.longestWait else { return false }
            waited += wait
            let reason = error.code == .overloaded ? "is busy or loading the model" : "limits requests"
            emit(.status("Waiting \(wait.components.seconds) s: \(launch.endpoint.name) \(reason)"))
            try await sleep(wait)
            return true
        case .contextOverflow, .tooLarge:
            guard !hasHalved, error.code == .contextOverflow || error.httpStatus == 413 else { return false }
            hasHalved = true
            emit(.status("The model takes fewer than \(conversation.context) tokens: older messages are left out"))
            conversation.halve()
            return true
        case .badRequest, .server, .notFound:
            guard !conversation.tools.isEmpty, error.refusesTools else { return false }
            conversation.tools = []
            emit(.status("\(model) cannot use tools: it does not see the project's files"))
            return true
        default: return false
        }
    }
}

extension ModelTurn {
    /// Carries out calls, one after the other.
    ///
    /// - Returns: The result of each call, for the model.
    private mutating func use(_ calls: [ProviderToolCall]) async throws -> [String] {
        var results: [String] = []
        for (index, call) in calls.enumerated() {
            try Task.checkCancellation()
            guard index < ModelAgent.callsAtOnce else {
                results.append("Error: only \(ModelAgent.callsAtOnce) calls at once are carried out.")
                continue
            }
            results.append(try await use(call))
        }
        return results
    }

    private mutating func use(_ call: ProviderToolCall) async throws -> String {
        calls += 1
        let tool = ModelTool.allCases.first { $0.rawValue.isSame(as: call.name) }
        // The model's own ids may come twice.
        let id = "tool-\(calls)"
        var shown = ToolReport(id: id, title: tool?.rawValue ?? "unknown tool", kind: "read", status: .inProgress)
        emit(.tool(shown))
        let result: String
        do {
            let done = try await ModelTool.run(
                try command(of: call, tool: tool),
                in: directory,
                limit: conversation.resultSize
            )
            result = done.result.isEmpty ? "(nothing)" : done.result
            shown.output = done.details
            shown.status = done.isDone ? .completed : .failed
        } catch let refusal as ModelToolRefusal {
            result = refusal.text
            shown.output = refusal.text
            shown.status = .failed
        }
        emit(.tool(shown))
        return result
    }

    private func command(of call: ProviderToolCall, tool: ModelTool?) throws(ModelToolRefusal) -> BuiltinCommand {
        guard let tool else {
            throw ModelToolRefusal(
                text: "Error: there is no tool “\(TerminalText.line(call.name).scalars(atMost: 60))”."
            )
        }
        guard tools.contains(tool) else {
            throw ModelToolRefusal(text: "Error: \(tool.rawValue) is not allowed in this turn.")
        }
        return try tool.command(call.arguments)
    }
}
