import CompanionWire

extension AICLITurn {
    /// Shows an event of the session.
    mutating func show(_ event: AICLIEvent, at moment: Moment) -> [Action] {
        if isPrompted, event.isOfAnswer { isBegun = true }
        switch event {
        case .text(let text):
            answered = nil
            guard isPrompted else { return [.output(.status(text))] }
            return answer.add(text).map { [.output(.text($0))] } ?? []
        case .tool(let name, let id):
            answered = nil
            return [.output(.toolStart(name: name, id: id))]
        case .toolResult(let name, let id, let success, let details):
            answered = nil
            return [.output(.toolComplete(name: name, id: id, success: success, details: details))]
        case .several(let events): return events.flatMap { show($0, at: moment) }
        case .permission(let request): return ask(request, at: moment)
        case .answer(let content, let success, let error):
            // The frame has no id of a request on this connection, so it answers a request on an earlier one.
            return isWaiting ? finish(content, success: success, error: error, at: moment) : []
        case .result(let success, let latest):
            return ended(success: success, usage: latest, at: moment)
        case .status(let text): return [.output(.status(text))]
        case .welcome, .connected, .pong, .failure, .sessionStarted, .nothing, .unknown: return []
        }
    }

    /// Whether a prompt was sent and its reply has not arrived.
    var isWaiting: Bool { isPrompted && question?.isReplied != true }

    /// The agent has finished. Its answer follows, unless the connection that it was sent to is gone.
    private mutating func ended(success: Bool, usage latest: TurnUsage?, at moment: Moment) -> [Action] {
        guard isWaiting else { return [] }
        var actions: [Action] = []
        if let latest {
            usage = latest
            actions.append(.output(.usage(latest)))
        }
        guard isFollowing || endsWithResult else { return actions }
        guard success else { return actions + end(.fail(failed(nil))) }
        guard !isFollowing || !answer.isEmpty || question != nil else { return actions + end(.fail(lost())) }
        return actions + finish("", success: true, error: nil, at: moment)
    }

    /// Takes the complete answer. If a question is open, this does not end the turn.
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
        let said = answer.shown
        if !said.isEmpty { actions.append(.said(.assistant, said, moment.date)) }
        guard question == nil else { return actions + takeReply(at: moment) }
        let whole = (earlier + [said]).filter { !$0.isEmpty }.joined(separator: "\n\n")
        let summary = FinishedTurn(answer: whole, usage: usage, wasRecovered: wasRecovered)
        return actions + end(.finish(summary))
    }

    private func failed(_ text: String?) -> CompanionClientError {
        CompanionClientError(.hostError, message: "The turn failed on the host.", hostText: text)
    }
}
