import CompanionClient
import CompanionWire
import PairingAgent

/// Prompts of the editor: turns of the host.
extension EditorBridge {
    /// The answer to a prompt that the editor has cancelled.
    private static let cancelled: JSONValue = ["stopReason": "cancelled"]

    func answer(_ number: Int) async throws -> JSONValue {
        guard let prompt = prompts[number] else { return Self.cancelled }
        defer { forget(number) }
        guard let session = sessions[ByteText(prompt.session)] else {
            throw ACPRefusal(code: ACPRefusal.notFound, message: "Unknown session: open it with session/load")
        }
        let text = ACPContent.prompt(prompt.blocks)
        guard !text.trimmingWhitespace().isEmpty else {
            throw ACPRefusal(code: ACPRefusal.invalidParameters, message: "The prompt is empty")
        }
        var request = TurnRequest(prompt: text, model: session.model)
        // For an agent that does not take blocks.
        if !session.hasWords { request.images = EditorFrames.images(prompt.blocks) }
        if session.sendsContent {
            let blocks = prompt.blocks.map(session.project.paths.blockForHost)
            request.content = String(decoding: JSONValue.array(blocks).json, as: UTF8.self)
        } else {
            request.projectPath = session.project.project.project.localPath
        }
        guard !isCancelled(number) else { return Self.cancelled }
        do {
            return try await withHost { [request] host in
                // The host may have been looked for.
                guard await !self.isCancelled(number) else { return Self.cancelled }
                let turn = try host.turns.turn(chatID: prompt.session, request: request)
                let answer = try await self.follow(
                    turn,
                    of: number,
                    hasWords: session.hasWords,
                    session.project.paths,
                    at: host
                )
                return answer ?? ["stopReason": "end_turn"]
            }
        } catch  where isCancelled(number) && !Task.isCancelled {
            return Self.cancelled
        }
    }

    /// Tells the editor what goes on in a turn that somebody else has begun, until it ends or the session is closed.
    func watch(_ turn: String, in id: String) async {
        guard let session = sessions[ByteText(id)],
            !prompts.values.contains(where: { $0.turn?.isSame(as: turn) == true })
        else { return }
        let number = keep(RunningPrompt(session: id, turn: turn))
        defer { forget(number) }
        let watching = Task {
            do {
                try await withHost { host in
                    guard let agents = host.offer.agents else { return }
                    let events = agents.follow(turnID: turn, inChat: id)
                    // It may have come from another program, without the agent's own words.
                    _ = try await self.follow(events, of: number, hasWords: false, session.project.paths, at: host)
                }
            } catch {
                if !Task.isCancelled { say(id, AppError(describing: error).message) }
            }
        }
        prompts[number]?.watching = watching
        await withTaskCancellationHandler {
            await watching.value
        } onCancel: {
            watching.cancel()
        }
    }

    private func isCancelled(_ number: Int) -> Bool { prompts[number]?.isCancelled ?? true }

    /// Tells the editor what comes of a turn.
    ///
    /// - Parameter hasWords: Whether the agent's own words are expected.
    /// - Returns: The agent's answer to the prompt; nil if it tells none.
    private func follow(
        _ turn: TurnEvents,
        of number: Int,
        hasWords: Bool,
        _ paths: EditorPaths,
        at host: HostSession
    ) async throws -> JSONValue? {
        guard let id = prompts[number]?.session else { return nil }
        var frames = EditorFrames()
        var (hasWords, answer, paths) = (hasWords, JSONValue?.none, paths)
        do {
            for try await event in turn {
                guard prompts[number] != nil else { return nil }
                switch event {
                case .begun(let turn):
                    prompts[number]?.turn = turn
                    if isCancelled(number) { await cancel(number) }
                case .acp(let words):
                    if !hasWords, let known = await reopened(id, at: host) { paths = known }
                    switch words.content {
                    case .update(let update):
                        hasWords = true
                        // Whatever the host sends: an editor knows it by its kind.
                        if update["sessionUpdate"]?.string != nil { tell(id, paths.forEditor(update)) }
                    case .request(let asked): put(asked, of: number, in: id, paths, at: host)
                    case .answer(let given): if given["stopReason"]?.string != nil { answer = given }
                    case .cut: hasWords = false
                    }
                case .question(let notice): take(notice, of: number, in: id, at: host)
                case .status(let text): if !hasWords { say(id, text) }
                case .recovering(let text): say(id, text)
                default:
                    guard !hasWords else { continue }
                    for update in frames.take(event) { tell(id, paths.forEditor(update)) }
                }
            }
        } catch {
            for update in frames.finish() { tell(id, update) }
            // How the agent ended its turn is the answer, whatever the host makes of it.
            if let answer, !Task.isCancelled { return answer }
            throw error
        }
        try Task.checkCancellation()
        return answer
    }

    /// Has the host cancel the turn of a prompt, once that is known.
    func cancel(_ number: Int) async {
        guard let prompt = prompts[number], let turn = prompt.turn else { return }
        do {
            try await withHost { host in
                _ = try await host.cancellation.cancelTurn(chatID: prompt.session, turnID: turn)
            }
        } catch {
            if !Task.isCancelled { say(prompt.session, AppError(describing: error).message) }
        }
    }

    // MARK: Questions

    /// Questions of a turn that are put to the editor, as many as a host keeps open.
    private static let mostQuestions = 64

    /// Whether a question is new, and there are not too many.
    private func mayAsk(_ approval: String, of number: Int) -> Bool {
        guard let questions = prompts[number]?.questions else { return false }
        return questions[ByteText(approval)] == nil && questions.count < Self.mostQuestions
    }

    /// Takes what the host says of a question of the agent.
    private func take(_ notice: ApprovalNotice, of number: Int, in id: String, at host: HostSession) {
        let key = ByteText(notice.id)
        switch notice.phase {
        case .asked:
            guard mayAsk(notice.id, of: number) else { return }
            prompts[number]?.questions[key] = Task { await putPlain(notice, of: number, in: id, at: host) }
        case .decided:
            // Whose answer counted, the host says to who has answered.
            guard let prompt = prompts[number], let question = prompt.questions[key], !prompt.answered.contains(key)
            else { return }
            question.cancel()
            if let person = notice.decidedBy {
                say(id, "\(person) has answered: \(notice.answer ?? notice.state.rawValue)")
            }
        case .continued: break
        }
    }

    /// Puts a request of the agent to the editor, in the agent's words.
    private func put(
        _ request: ACPPersonRequest,
        of number: Int,
        in id: String,
        _ paths: EditorPaths,
        at host: HostSession
    ) {
        guard mayAsk(request.approvalId, of: number) else { return }
        prompts[number]?.questions[ByteText(request.approvalId)] = Task {
            await decide(request.approvalId, of: number, in: id, at: host) { asked in
                // The host chooses nothing else: neither another method nor another session.
                if request.method.isSame(as: ACPMessage.formMethod) {
                    return await self.fillIn(request, asked, of: number, in: id)
                }
                guard request.method.isSame(as: ACPMessage.permissionMethod) else { return nil }
                var parameters = JSONValue(lenient: Array(request.parameters.utf8))?.object ?? [:]
                parameters["sessionId"] = nil
                if let call = parameters["toolCall"] { parameters["toolCall"] = paths.forEditor(call) }
                return await self.permission(parameters, asked, of: number, in: id)
            }
        }
    }

    /// Puts a question of which only the host's own words are known.
    private func putPlain(_ notice: ApprovalNotice, of number: Int, in id: String, at host: HostSession) async {
        await decide(notice.id, of: number, in: id, at: host) { asked in
            guard !notice.asksPerson else {
                self.say(
                    id,
                    "The agent asks for more than a yes or no: pairtool approvals answer \(notice.id.shortID)"
                )
                return nil
            }
            let options = (asked.approval.options ?? []).filter { asked.mayAlways || !$0.kind.mayLast }
            let text = CodeFence.around(TerminalText.block(asked.approval.arguments ?? asked.approval.title))
            let parameters: [String: JSONValue] = [
                "toolCall": [
                    "toolCallId": .string(notice.id), "title": .string(notice.title), "kind": .string(notice.kind),
                    "status": "pending",
                    "content": [["type": "content", "content": ["type": "text", "text": .string(text)]]],
                ],
                "options": .array(
                    options.map {
                        [
                            "optionId": .string($0.id), "name": .string($0.name),
                            "kind": .string($0.kind == .other ? "allow_always" : $0.kind.rawValue),
                        ]
                    }
                ),
            ]
            return await self.permission(parameters, asked, of: number, in: id)
        }
    }

    /// Fetches a question, has the editor answer it, and passes the answer on.
    private func decide(
        _ approval: String,
        of number: Int,
        in id: String,
        at host: HostSession,
        _ answer: (ApprovalResponse) async -> ApprovalAnswer?
    ) async {
        do {
            let approvals = try host.approvals
            let found = try await persistently { try await approvals.approval(id: approval) }
            guard let asked = found, asked.approval.isPending else { return }
            guard asked.mayDecide else {
                return say(
                    id,
                    "The agent waits for an answer that this device may not give: the host's owner may "
                        + "(pairtool host approvals)"
                )
            }
            guard let answer = await answer(asked), !Task.isCancelled else { return }
            prompts[number]?.answered.insert(ByteText(approval))
            _ = try await persistently { try await approvals.decide(asked.approval, with: answer) }
        } catch let error as CompanionClientError where error.code == .alreadyDecided {
            say(id, "The answer of the editor came too late: \(error.message)")
        } catch {
            if !Task.isCancelled { say(id, AppError(describing: error).message) }
        }
    }

    /// Does something at the host, and waits for the host where it cannot be reached: its turn waits as well.
    private func persistently<Value>(_ body: () async throws -> Value) async throws -> Value {
        while true {
            do {
                return try await body()
            } catch let error as CompanionClientError
                where [.unreachable, .timedOut, .streamInterrupted].contains(error.code)
            {
                try await environment.clock.sleep(for: .seconds(1))
            }
        }
    }

    /// Asks the editor for leave.
    private func permission(
        _ parameters: [String: JSONValue],
        _ asked: ApprovalResponse,
        of number: Int,
        in id: String
    ) async -> ApprovalAnswer? {
        var parameters = parameters
        if !asked.mayAlways, let options = parameters["options"]?.array {
            // The host would refuse them.
            parameters["options"] = .array(options.filter { $0["kind"]?.string?.ends(with: "_always") != true })
        }
        let text = String(decoding: JSONValue.object(parameters).json, as: UTF8.self)
        guard let result = await put(ACPMessage.permissionMethod, text, in: id) else { return nil }
        if let option = result["outcome"]?["optionId"]?.string { return .option(option) }
        // The end of the turn is the answer.
        return isCancelled(number) ? nil : .reject(always: false, reason: nil)
    }

    /// Asks the editor, and says so where it refuses.
    private func put(_ method: String, _ parameters: String, in id: String) async -> JSONValue? {
        switch await ask(id, method, parameters) {
        case .success(let result)?: return result
        case .failure(let refusal)?:
            say(id, "The editor could not ask: \(refusal.message)")
            return nil
        case nil: return nil
        }
    }

    /// Has the editor fill in a form, or open a page.
    private func fillIn(
        _ request: ACPPersonRequest,
        _ asked: ApprovalResponse,
        of number: Int,
        in id: String
    ) async -> ApprovalAnswer? {
        let link = asked.approval.link
        guard editorShows(link == nil ? "form" : "url") else {
            say(
                id,
                "\(asked.approval.title). To answer: pairtool approvals answer \(request.approvalId.shortID)"
            )
            return nil
        }
        // The host may not say one thing to its owner and another one to the editor.
        let told = JSONValue(lenient: Array(request.parameters.utf8))
        let mode = told?["mode"]?.string ?? "form"
        guard mode.isSame(as: link == nil ? "form" : "url"),
            link == nil || told?["url"]?.string.flatMap(PageLink.init)?.url.isSame(as: link ?? "") == true
        else {
            say(id, "The host's question is not what it says: it is not shown")
            return nil
        }
        guard let parameters = request.checkedParameters,
            let result = await put(ACPMessage.formMethod, parameters, in: id)
        else { return nil }
        switch result["action"]?.string {
        case "accept" where asked.approval.link == nil: return .filled(result["content"]?.object ?? [:])
        case "accept": return .option(ApprovalOption.accept.id)
        case "decline": return .option(ApprovalOption.decline.id)
        default: return isCancelled(number) ? nil : .dismissed
        }
    }
}
