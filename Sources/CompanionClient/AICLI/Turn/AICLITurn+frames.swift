import CompanionWire
import FoundationEssentials

extension AICLITurn {
    mutating func take(_ frame: AICLIFrame, at moment: Moment) -> [Action] {
        let event = AICLIEvent(frame)
        frameDate = frame.origin
        if frame.isQueued { return takeStored(frame, at: moment) }
        if let time = frame.timestamp { serverTime = max(time, serverTime ?? time) }
        if !isWelcome { return greet(event) }
        // The newest builds may send their first frame after the greeting timeout.
        if event == .connected, !isPrompted { return end(.fail(AICLIGeneration.http.refusal)) }
        if let id = frame.requestID, let kind = pending[id] { return replied(event, to: kind, id: id, at: moment) }
        if case .failure(let error) = event { return frame.requestID == nil ? [.output(.status(error.text))] : [] }
        if let other = frame.sessionID, let sessionID, other != sessionID { return [] }
        guard phase == .draining || phase == .answering else { return [] }
        if let identity = frame.identity, !recent.insert(identity) { return [] }
        if phase == .draining {
            // This frame may be newer than stored ones that are still to come, so handle it after them.
            kept.append(frame)
            return []
        }
        return show(event, at: moment)
    }

    private mutating func greet(_ event: AICLIEvent) -> [Action] {
        switch event {
        case .welcome:
            isWelcome = true
            return openSession()
        case .connected:
            return end(.fail(AICLIGeneration.http.refusal))
        case .failure(let error):
            return [.output(.status(error.text))]
        default:
            return []
        }
    }

    // MARK: Replies

    private mutating func replied(_ event: AICLIEvent, to kind: Pending, id: String, at moment: Moment) -> [Action] {
        pending[id] = nil
        switch (kind, event) {
        case (.start, .sessionStarted(let sessionID, let endsWithResult)) where phase == .starting:
            self.sessionID = sessionID
            self.endsWithResult = endsWithResult
            return [.started(sessionID: sessionID)] + subscribe()
        case (.start, .failure(let error)) where phase == .starting: return end(.fail(error.notSent))
        case (.start, .nothing) where phase == .starting:
            return end(
                .fail(CompanionClientError(.badAnswer, message: "The host returned no session.", delivery: .notSent))
            )
        case (.ping, _):
            guard phase == .draining else { return [] }
            // What was stored of the answer may be behind what comes live: it is waited for, and put in order.
            return isPrompted ? wake(after: configuration.settling) : drained(at: moment)
        case (.prompt, .answer(let content, let success, let error)):
            return finish(content, success: success, error: error, at: moment)
        case (.prompt, .failure(let error)):
            guard error.isUnknownSession, !hasRenewed, !hasAnswered, let old = sessionID else {
                return end(.fail(error.clientError))
            }
            // The prompt was refused, not executed, so it can be sent again in a session that the host knows.
            hasRenewed = true
            isPrompted = false
            sessionID = nil
            return [
                .verdict(.unknown, sessionID: old),
                .output(.status("The host no longer has the session: starting a new one.")),
            ] + startSession()
        case (.permission, .failure(let error)):
            return [.output(.status("The host did not accept the answer. \(error.text)"))]
        case (.permission, _): return []
        default:
            // A chunk may carry the id of its prompt; the reply is still to come.
            if kind == .prompt {
                pending[id] = kind
                return show(event, at: moment)
            }
            return []
        }
    }

    // MARK: Stored messages

    /// Takes a message that the server had stored. Servers send them at any time: right behind their greeting, with the
    /// subscription, and behind the pong, 50 ms apart.
    private mutating func takeStored(_ frame: AICLIFrame, at moment: Moment) -> [Action] {
        if let other = frame.sessionID, let sessionID, other != sessionID { return [] }
        if let identity = frame.identity, !recent.insert(identity) { return [] }
        switch phase {
        case .answering: return show([frame], at: moment)
        case .draining where !pending.values.contains(.ping):
            kept.append(frame)
            return wake(after: configuration.settling)
        default:
            kept.append(frame)
            return []
        }
    }

    /// The stored messages have arrived, or come later: shows those that are there, then continues.
    mutating func drained(at moment: Moment) -> [Action] {
        let messages = kept
        kept = []
        backoff.reset()
        phase = .answering
        var actions = show(messages, at: moment)
        guard phase != .ended else { return actions }
        guard isPrompted else { return actions + sendPrompt(at: moment) }
        guard question != nil else { return actions + follow() }
        // The reply that comes with a question was sent to the broken connection, unless it had arrived before.
        actions += isWaiting ? finish("", success: true, error: nil, at: moment) : goOn(at: moment)
        return actions
    }

    /// Shows messages in the order in which they were first sent. Stored ones are shown once, in this turn or an earlier
    /// one, and only those of this session.
    private mutating func show(_ frames: [AICLIFrame], at moment: Moment) -> [Action] {
        let messages = frames.filter { frame in
            guard frame.sessionID == nil || sessionID == nil || frame.sessionID == sessionID else { return false }
            return !frame.isQueued || frame.identity.map { !seen.contains(ByteText($0)) } ?? true
        }
        .enumerated()
        .sorted { (order($0.element), $0.offset) < (order($1.element), $1.offset) }
        .map(\.element)
        var actions: [Action] = []
        let identities = messages.compactMap { $0.isQueued ? $0.identity : nil }
        seen.formUnion(identities.map(ByteText.init))
        if !identities.isEmpty, let sessionID { actions.append(.saw(identities, sessionID: sessionID)) }
        for frame in messages where phase != .ended { actions += showKept(frame, at: moment) }
        return actions
    }

    /// In seconds; messages without a time come first.
    private func order(_ frame: AICLIFrame) -> Double {
        frame.origin?.timeIntervalSince1970 ?? 0
    }

    private mutating func showKept(_ frame: AICLIFrame, at moment: Moment) -> [Action] {
        let event = AICLIEvent(frame)
        guard frame.isQueued else { return show(event, at: moment) }
        let mark = frame.delay(now: moment.date).map { "Late by \($0.roughly): " } ?? "Late: "
        guard !isOfThisTurn(frame) else {
            return [.output(.recovering("\(mark)a message that the host has kept"))] + show(event, at: moment)
        }
        switch event {
        case .text(let text), .answer(let text, success: true, error: _):
            guard !text.allSatisfy(\.isWhitespace) else { return [] }
            return [.output(.status(mark + text)), .said(.assistant, text, frame.origin ?? moment.date)]
        case .answer(_, success: false, let error?): return [.output(.status(mark + error))]
        case .tool(let name, _): return [.output(.status("\(mark)the agent used \(name)"))]
        case .several(let events):
            return events.flatMap { event -> [Action] in
                switch event {
                case .text(let text):
                    [.output(.status(mark + text)), .said(.assistant, text, frame.origin ?? moment.date)]
                case .tool(let name, _): [.output(.status("\(mark)the agent used \(name)"))]
                default: []
                }
            }
        case .permission:
            let notice = Action.output(.status("\(mark)a question from the agent"))
            // A question of an earlier turn is not in the way of this one.
            return isPrompted ? [notice] : [notice] + show(event, at: moment)
        default: return []
        }
    }

    /// Whether a stored message is a part of this turn's answer. While the connection stands, the server stores nothing:
    /// what it had stored is of an earlier turn.
    private func isOfThisTurn(_ frame: AICLIFrame) -> Bool {
        guard isPrompted, wasRecovered else { return false }
        guard let origin = frame.origin, let promptedAt else { return true }
        return origin >= promptedAt
    }

    private mutating func follow() -> [Action] {
        [.output(.recovering("The session continues. An answer in progress may be lost; waiting for the rest."))]
            + wake(after: configuration.recovery)
    }

    private mutating func sendPrompt(at moment: Moment) -> [Action] {
        isPrompted = true
        promptedAt = serverTime
        // If the session replaced another one, the prompt is already in the transcript.
        let said: [Action] = hasRenewed ? [] : [.said(.user, prompt, moment.date)]
        return [.prompting] + said + [.send(request("claudeCommand", as: .prompt, data: command(prompt)))]
            + wake(after: configuration.silence)
    }

    /// The data of a request that sends a text to the agent.
    func command(_ text: String) -> JSONValue {
        [
            "command": .string(Self.command(text)), "projectPath": .string(workingDirectory),
            "sessionId": sessionID.map(JSONValue.string) ?? .null,
        ]
    }

    /// The server would handle a prompt that is just one of these words itself instead of passing it to the agent.
    static func command(_ prompt: String) -> String {
        ["status", "sessions", "test"].contains(prompt.lowercased()) ? prompt + " " : prompt
    }
}

extension AICLIServerError {
    /// Text for the user.
    var text: String { message.isEmpty ? code.rawValue : "\(code.rawValue): \(message)" }

    /// The error if no prompt was sent.
    var notSent: CompanionClientError {
        var error = clientError
        error.delivery = .notSent
        return error
    }
}
