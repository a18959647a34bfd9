import CompanionWire

extension AICLITurn {
    mutating func closed(_ closure: AICLIClosure) -> [Action] {
        if closure.isRefusal {
            return end(
                .fail(CompanionClientError(.notPaired, message: "The host rejected the token.", delivery: delivery))
            )
        }
        if let error = closure.error, [.tooLarge, .badAnswer, .unsupportedVersion, .notPaired].contains(error.code) {
            var error = error
            error.delivery = delivery
            return end(.fail(error))
        }
        let cause =
            closure.error
            ?? CompanionClientError(.unreachable, message: "The host closed the connection.", delivery: delivery)
        // If no connection ever worked, the host is off. Nothing was sent, so there is nothing to wait for.
        guard isWelcome || breaks > 0 else {
            var error = cause
            error.delivery = .notSent
            return end(.fail(error))
        }
        breaks += 1
        if isWaiting {
            isFollowing = true
            wasRecovered = true
        }
        guard breaks <= configuration.mostBreaks, let wait = backoff.next() else {
            return end(.fail(gaveUp(cause)))
        }
        let notice = "The connection to the host broke; connecting again in \(wait.forPeople)."
        return [.output(isPrompted ? .recovering(notice) : .status(notice))] + connect(after: wait)
    }

    private var delivery: CompanionClientError.Delivery { isPrompted ? .unknown : .notSent }

    private func gaveUp(_ cause: CompanionClientError) -> CompanionClientError {
        guard isPrompted else {
            return CompanionClientError(
                .unreachable,
                message: "The connection to the host did not come back. The prompt was not sent.",
                delivery: .notSent,
                underlying: cause
            )
        }
        return interrupted("The connection to the host did not come back.", because: cause)
    }

    func interrupted(_ what: String, because cause: CompanionClientError? = nil) -> CompanionClientError {
        CompanionClientError(
            .streamInterrupted,
            message: "\(what) The prompt was not sent again; the next one continues the session.",
            delivery: isBegun ? .answered : .unknown,
            underlying: cause
        )
    }

    mutating func verified(_ verdict: AICLISessionTable.Verdict, of id: String) -> [Action] {
        guard phase == .verifying, id == sessionID else { return [] }
        var actions = [Action.verdict(verdict, sessionID: id)]
        switch verdict {
        case .continued: return actions + subscribe()
        case .unknown where isPrompted:
            return actions
                + end(.fail(interrupted("The host has been restarted and does not know the session any more.")))
        case .unknown:
            sessionID = nil
            seen = []
            actions.append(.output(.status("The host no longer has the earlier session: starting a new one.")))
            return actions + startSession()
        }
    }

    /// The check of the session failed. That error says nothing about the prompt.
    mutating func unverified(_ cause: CompanionClientError) -> [Action] {
        guard phase == .verifying else { return [] }
        guard !isPrompted else {
            return end(.fail(interrupted("The host could not be asked about the session.", because: cause)))
        }
        var error = cause
        error.delivery = .notSent
        return end(.fail(error))
    }

    /// The first step on an open connection is to get a session.
    mutating func openSession() -> [Action] {
        guard let sessionID else { return startSession() }
        phase = .verifying
        return [.verify(sessionID)] + wake(after: configuration.reply)
    }

    mutating func startSession() -> [Action] {
        phase = .starting
        let data = AICLIClient.sessionStart(in: workingDirectory)
        return [.send(request("streamStart", as: .start, data: data))] + wake(after: configuration.reply)
    }

    mutating func subscribe() -> [Action] {
        phase = .draining
        let data: JSONValue = [
            "events": .array(Self.events.map(JSONValue.string)),
            "sessionIds": .array(sessionID.map { [.string($0)] } ?? []),
        ]
        // A subscription has no reply. The pong shows that the server has taken it; stored messages may come behind it.
        let (subscription, ping) = (request("subscribe", as: .other, data: data), request("ping", as: .ping))
        return [.send(subscription), .send(ping)] + wake(after: configuration.drain)
    }

    private static let events = [
        "streamChunk", "assistantMessage", "toolUse", "toolResult", "permissionRequired", "permissionRequest",
        "conversationResult", "claudeResponse", "processStart", "processExit",
    ]

    mutating func timedOut(at moment: Moment) -> [Action] {
        switch phase {
        case .idle, .ended: return []
        case .connecting where isOpen:
            // Some builds send no greeting. If the connection is dead, the next request will show it.
            isWelcome = true
            return openSession()
        case .connecting:
            return closed(AICLIClosure(error: CompanionClientError(.timedOut, message: "The host does not respond.")))
        case .verifying, .starting:
            let error = CompanionClientError(
                .timedOut,
                message: "The host did not open a session within \(configuration.reply.forPeople).",
                delivery: delivery
            )
            return end(.fail(isPrompted ? interrupted(error.message, because: error) : error))
        case .draining: return drained(at: moment)
        case .answering:
            if let actions = questionTimedOut(at: moment) { return actions }
            let limit = isFollowing ? configuration.recovery : configuration.silence
            let rest = lastSign + limit - moment.elapsed
            guard rest <= .zero else { return wake(after: rest) }
            return end(.fail(isFollowing ? lost() : silent()))
        }
    }

    func lost() -> CompanionClientError {
        interrupted("The answer was lost when the connection broke.")
    }

    private func silent() -> CompanionClientError {
        CompanionClientError(
            .timedOut,
            message: "The agent was silent for \(configuration.silence.forPeople). It may still be working.",
            delivery: isBegun ? .answered : .unknown
        )
    }
}

/// The waits between connection attempts: each about twice as long as the one before, from 1 s to 300 s. A random
/// addition keeps the clients of a restarted server from connecting at the same time.
struct AICLIBackoff: Sendable {
    static let firstWait = Duration.seconds(1)
    static let longestWait = Duration.seconds(300)

    private var backoff: Backoff
    /// Returns a number in 0..<1.
    private let random: @Sendable () -> Double

    init(tries: Int, random: @escaping @Sendable () -> Double) {
        backoff = Backoff(.init(count: tries, firstWait: Self.firstWait, longestWait: Self.longestWait))
        self.random = random
    }

    /// The next wait; nil after too many attempts in a row.
    mutating func next() -> Duration? {
        backoff.next().map { min($0 + $0 * (random() / 2), Self.longestWait) }
    }

    mutating func reset() {
        backoff.reset()
    }
}
