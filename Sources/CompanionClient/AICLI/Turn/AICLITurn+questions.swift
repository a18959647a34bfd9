import CompanionWire
import FoundationEssentials

/// Questions of the agent.
extension AICLITurn {
    /// How long after an answer the same question counts as a copy of the answered one.
    private static let copies = Duration.seconds(2)

    /// Handles a question: the allowed tools answer it, or the user is asked.
    mutating func ask(_ request: AICLIPermissionRequest, at moment: Moment) -> [Action] {
        // Servers may ask twice.
        guard question?.asked.contains(where: { $0.request.prompt == request.prompt }) != true,
            !isCopy(request, at: moment)
        else { return [] }
        let isAllowed = request.isCovered(by: allowedTools)
        let asked = AICLIOpenQuestion.Asked(request: request, word: isAllowed ? request.allowing : nil)
        question = AICLIOpenQuestion(
            asked: (question?.asked ?? []) + [asked],
            isReplied: question?.isReplied ?? false,
            repliedAt: question?.repliedAt
        )
        guard isAllowed else { return [.ask(request)] }
        return [.output(.status("Allowed: \(request.prompt)"))] + goOn(at: moment)
    }

    private func isCopy(_ request: AICLIPermissionRequest, at moment: Moment) -> Bool {
        guard let answered, answered.prompts.contains(request.prompt) else { return false }
        if let until = answered.until, let frameDate { return frameDate <= until }
        return moment.elapsed - answered.at <= Self.copies
    }

    /// Takes the user's answer.
    ///
    /// - Parameter answer: One of the options; anything else denies.
    mutating func answered(
        _ request: AICLIPermissionRequest,
        with answer: String?,
        at moment: Moment
    ) -> [Action] {
        guard let index = question?.asked.firstIndex(where: { $0.request == request && $0.word == nil }) else {
            return []
        }
        let word = answer.flatMap { request.options.contains($0) ? $0 : nil } ?? request.denying
        question?.asked[index].word = word
        let notice = "\(word == request.denying ? "Denied" : "Answered \(word)"): \(request.prompt)"
        return [.output(.status(notice))] + goOn(at: moment)
    }

    /// The reply to the prompt has arrived while the question is still open.
    mutating func takeReply(at moment: Moment) -> [Action] {
        question?.isReplied = true
        question?.repliedAt = frameDate
        if !answer.shown.isEmpty { earlier.append(answer.shown) }
        answer = AICLIAnswer(isBehind: !earlier.isEmpty)
        return goOn(at: moment)
    }

    /// Sends the answer once there is one and the server's way of taking it is known.
    mutating func goOn(at moment: Moment) -> [Action] {
        guard let open = question, open.isAnswered else { return [] }
        question?.answeredAt = open.answeredAt ?? moment.elapsed
        // Without a connection, the answer is sent on the next one.
        guard phase == .answering else { return [] }
        if open.isReplied { return sendAnswer(at: moment) }
        return endsWithResult ? answerWithinTurn(at: moment) : wake(after: configuration.question)
    }

    /// Sends the answer as the next prompt; its reply contains the continuation.
    private mutating func sendAnswer(at moment: Moment) -> [Action] {
        guard let open = question, let word = open.word else { return [] }
        close(open, until: open.repliedAt, at: moment)
        hasAnswered = true
        isFollowing = false
        let command = request("claudeCommand", as: .prompt, data: command(word))
        return [.said(.user, word, moment.date), .send(command)] + wake(after: configuration.silence)
    }

    /// Sends the answer as a request of its own, for servers that wait for it within the turn.
    private mutating func answerWithinTurn(at moment: Moment) -> [Action] {
        guard let open = question else { return [] }
        close(open, until: nil, at: moment)
        let frames = open.asked.map { asked in
            let data: JSONValue = [
                "sessionId": (asked.request.sessionID ?? sessionID).map(JSONValue.string) ?? .null,
                "response": asked.word.map(JSONValue.string) ?? .null, "remember": false,
            ]
            return Action.send(request("permission", as: .permission, data: data))
        }
        return frames + wake(after: configuration.silence)
    }

    private mutating func close(_ open: AICLIOpenQuestion, until: Date?, at moment: Moment) {
        answered = AICLIAnsweredQuestion(prompts: open.asked.map(\.request.prompt), at: moment.elapsed, until: until)
        question = nil
    }

    /// Handles the timer while a question is open.
    ///
    /// - Returns: nil if the timer does not concern a question.
    mutating func questionTimedOut(at moment: Moment) -> [Action]? {
        guard let open = question else { return nil }
        // The user may take any time to answer; the server sends nothing in the meantime.
        guard let answeredAt = open.answeredAt else { return open.isReplied ? [] : nil }
        guard !open.isReplied else { return nil }
        let rest = max(answeredAt, lastSign) + configuration.question - moment.elapsed
        return rest > .zero ? wake(after: rest) : answerWithinTurn(at: moment)
    }
}
