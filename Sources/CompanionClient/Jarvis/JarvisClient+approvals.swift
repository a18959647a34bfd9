import CompanionWire
import NIOHTTP1

extension JarvisClient {
    /// `GET /health`.
    package func daemonHealth() async throws -> JarvisHealth {
        do {
            return try await json(.GET, path: "/health", as: JarvisHealth.self)
        } catch let error as CompanionClientError where [.badAnswer, .notFound, .badRequest].contains(error.code) {
            // A daemon refuses nobody who asks how it is.
            var error = error
            error.code = .notACompanion
            error.message = "What listens on \(base) is not a Jarvis daemon."
            error.advice = Self.findPort
            throw error
        }
    }

    /// The requests that wait for a decision, each once, oldest first.
    package func pending() async throws -> JarvisPending {
        let list = try await json(.GET, path: "/approval/pending", as: LossyArray<JarvisApproval>.self)
        var seen: Set<JarvisApprovalID> = []
        let waiting = list.elements.filter { $0.status == .pending && seen.insert($0.id).inserted }
        let sorted = waiting.sorted { left, right in
            switch (left.requestedAt, right.requestedAt) {
            case (let first?, let second?) where first != second: first < second
            case (nil, _?): false
            case (_?, nil): true
            default: left.id.description < right.id.description
            }
        }
        return JarvisPending(approvals: sorted, unreadable: list.dropped)
    }

    /// Returns the state of a request; nil if the daemon has none with the id.
    ///
    /// - Throws: ``CompanionClientError``: `badAnswer` if the daemon answers about another request, and as every
    ///   request does.
    package func state(of id: JarvisApprovalID) async throws -> JarvisApprovalState? {
        do {
            let state = try await json(.GET, path: "/approval/status/\(id)", as: JarvisApprovalState.self)
            guard state.id.uppercased == id.uppercased else {
                throw CompanionClientError(
                    .badAnswer,
                    message: "\(base) answered about another request than the one asked for."
                )
            }
            return state
        } catch let error as CompanionClientError where error.code == .notFound {
            return nil
        }
    }

    /// Asks for an approval, as a program on the daemon's machine would.
    ///
    /// - Throws: ``CompanionClientError``.
    package func request(_ request: JarvisApprovalRequest) async throws -> JarvisReceipt {
        try await json(.POST, path: "/approval/request", body: request, as: JarvisReceipt.self)
    }
}
