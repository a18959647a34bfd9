/// Tells and asks the user while a connection waits to be accepted.
package struct LumiApprovalDelegate: Sendable {
    /// Called before each second of waiting, with the seconds that are left at most.
    package var waiting: @Sendable (_ secondsLeft: Int) -> Void
    /// Gives the six digits that the Mac shows; nil where nobody can be asked.
    package var code: @Sendable (_ isRepeated: Bool) async throws -> String?

    /// By default, tells the user nothing and gives no digits.
    package init(
        waiting: @escaping @Sendable (_ secondsLeft: Int) -> Void = { _ in },
        code: @escaping @Sendable (_ isRepeated: Bool) async throws -> String? = { _ in nil }
    ) {
        self.waiting = waiting
        self.code = code
    }
}

extension LumiClient {
    /// Asks the host to accept the connection, and waits for it.
    ///
    /// - Parameter deviceName: What the Mac's user is shown. Another connection with this name is cancelled by the Mac.
    /// - Throws: ``CompanionClientError``: `forbidden` where the Mac's user refused, `timedOut` where they said
    ///   nothing, `badRequest` for a wrong code or none, and as every command does.
    package func requestApproval(
        deviceName: String,
        delegate: LumiApprovalDelegate = LumiApprovalDelegate()
    ) async throws -> LumiGeneration {
        var approval = LumiApproval()
        var action = approval.start()
        while true {
            switch action {
            case .ping(let code):
                action = approval.handle(try await ping(deviceName: deviceName, code: code))
            case .pause(let left):
                delegate.waiting(left)
                try await clock.sleep(for: LumiApproval.pause)
                action = approval.handle(.paused)
            case .askForCode(let isRepeated):
                action = approval.handle(.code(try await delegate.code(isRepeated)))
            case .ready(let generation):
                self.generation = generation
                return generation
            case .fail(let failure):
                throw error(failure)
            }
        }
    }

    /// Sends a ping and returns the result as an event. Throws failures other than silence and the end of the
    /// connection.
    private func ping(deviceName: String, code: String?) async throws -> LumiApproval.Event {
        do {
            return .answered(try await exchange(.ping(deviceName: deviceName, code: code)))
        } catch let error as CompanionClientError where error.code == .timedOut {
            return .silence
        } catch let error as CompanionClientError where error.code == .unreachable {
            return .closed
        }
    }

    private func error(_ failure: LumiApproval.Failure) -> CompanionClientError {
        switch failure {
        case .rejected:
            CompanionClientError(.forbidden, message: "The connection was refused on \(endpoint).")
        case .unanswered:
            CompanionClientError(
                .timedOut,
                message: "Nobody accepted the connection on \(endpoint) within \(LumiApproval.mostAsks) seconds."
            )
        case .silent:
            CompanionClientError(
                .timedOut,
                message: "\(endpoint) did not answer within \(configuration.ping.forPeople).",
                delivery: .unknown
            )
        case .closed:
            CompanionClientError(
                .unreachable,
                message: "\(endpoint) closed the connection before it answered.",
                delivery: .unknown
            )
        case .noCode:
            CompanionClientError(.badRequest, message: "\(endpoint) needs the six digits that it shows.")
        case .wrongCode:
            CompanionClientError(.badRequest, message: "\(endpoint) rejected all codes.")
        case .unknownAnswer(let text):
            CompanionClientError(
                .badAnswer,
                message: "\(endpoint) answered in a way that no known Lumi host does.",
                hostText: text
            )
        }
    }
}
