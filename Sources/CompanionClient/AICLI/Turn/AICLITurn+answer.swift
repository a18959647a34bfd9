import CompanionWire

extension AICLITurn {
    /// Shows what happens in the session.
    mutating func show(_ event: AICLIEvent, at moment: Moment) -> [Action] {
        switch event {
        case .text(let text):
            openQuestion = nil
            guard isPrompted else { return [.output(.status(text))] }
            return answer.add(text).map { [.output(.text($0))] } ?? []
        case .tool(let name, let id):
            openQuestion = nil
            return [.output(.toolStart(toolName: name, toolCallID: id))]
        case .toolResult(let name, let id, let success, let details):
            openQuestion = nil
            return [.output(.toolComplete(toolName: name, toolCallID: id, success: success, details: details))]
        case .permission(let request): return question(request, at: moment)
        case .answer(let content, let success, let error):
            // Without the id of a request of this connection: the answer to one of an earlier connection.
            return isPrompted ? finish(content, success: success, error: error, at: moment) : []
        case .result(let success, let latest):
            return ended(success: success, usage: latest, at: moment)
        case .status(let text): return [.output(.status(text))]
        case .welcome, .connected, .pong, .failure, .sessionStarted, .nothing, .unknown: return []
        }
    }

    /// The agent has finished. Its answer follows, unless its way is gone.
    private mutating func ended(success: Bool, usage latest: ContinueChatUsage?, at moment: Moment) -> [Action] {
        guard isPrompted else { return [] }
        var actions: [Action] = []
        if let latest {
            usage = latest
            actions.append(.output(.usage(latest)))
        }
        guard isFollowing else { return actions }
        guard success else { return actions + end(.fail(failed(nil))) }
        guard !answer.isEmpty else { return actions + end(.fail(lost())) }
        return actions + finish("", success: true, error: nil, at: moment)
    }

    /// Takes the whole answer.
    mutating func finish(_ content: String, success: Bool, error: String?, at moment: Moment) -> [Action] {
        guard success else { return end(.fail(failed(error ?? (content.isEmpty ? nil : content)))) }
        var actions: [Action] = []
        switch answer.complete(with: content) {
        case nil:
            actions.append(.output(.recovering("The whole answer differs from what was shown; here it is.")))
            actions.append(.output(.text("\n" + content)))
        case let missing? where !missing.isEmpty: actions.append(.output(.text(missing)))
        default: break
        }
        let whole = answer.shown
        if !whole.isEmpty { actions.append(.said(.assistant, whole, moment.date)) }
        let summary = ChatTurnSummary(answer: whole, usage: usage, wasRecovered: isFollowing, position: .start)
        return actions + end(.finish(summary))
    }

    private func failed(_ text: String?) -> CompanionClientError {
        CompanionClientError(.hostError, "The turn failed on the host.", hostText: text)
    }

    // MARK: Questions

    /// How long after an answer the same question is a copy of the one that was answered.
    private static let copies = Duration.seconds(2)

    private mutating func question(_ request: AICLIPermissionRequest, at moment: Moment) -> [Action] {
        // Servers may ask twice.
        if openQuestion == request.prompt {
            guard let answeredAt, moment.elapsed - answeredAt > Self.copies else { return [] }
        }
        openQuestion = request.prompt
        answeredAt = nil
        guard request.isCovered(by: allowedTools) else { return [.ask(request)] }
        answeredAt = moment.elapsed
        return [.output(.status("Allowed: \(request.prompt)"))] + reply(to: request, request.allowing, isQuiet: true)
    }

    mutating func reply(
        to request: AICLIPermissionRequest,
        _ answer: String?,
        isQuiet: Bool = false
    ) -> [Action] {
        let word = answer.flatMap { request.options.contains($0) ? $0 : nil } ?? request.denying
        let data: AICLIValue = [
            "sessionId": (request.sessionID ?? sessionID).map(AICLIValue.string) ?? .null,
            "response": .string(word), "remember": false,
        ]
        let frame = self.request("permission", .permission, data)
        let isDenied = word == request.denying
        var actions: [Action] = []
        if !isQuiet {
            actions.append(.output(.status("\(isDenied ? "Denied" : "Answered \(word)"): \(request.prompt)")))
        }
        guard phase == .answering else {
            unsent.append(frame)
            return actions
        }
        return actions + [.send(frame)]
    }
}
