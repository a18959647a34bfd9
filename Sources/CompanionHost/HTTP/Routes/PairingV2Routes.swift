import CompanionWire
import Hummingbird
import Logging

/// The steps of a pairing by v2, and the opening of sessions.
struct PairingV2Routes: RouteGroup {
    let access: RequestAccess
    let pairing: CompanionPairingService
    let logger: Logger

    func addRoutes(to router: Router<HostRequestContext>) {
        router.add("/companion/pairing/hello", method: .post, bodyLimit: BodyLimit.anybody) { _, context in
            try access.requireV2(context)
            let body = try HostJSON.decodeStrictly(PairingHelloRequest.self, from: context.json)
            let address = try context.address().description
            return try await answer(to: "hello") {
                // Finding the process of a peer takes long: not as often as somebody likes.
                try await pairing.admit(address)
                try await access.refuseAgents(command: "pairing/hello", in: context)
                return try await pairing.hello(body, address: address)
            }
        }
        router.add("/companion/pairing/share", method: .post, bodyLimit: BodyLimit.anybody) { _, context in
            try access.requireV2(context)
            let body = try HostJSON.decodeStrictly(PairingShareRequest.self, from: context.json)
            return try await answer(to: "share") { try await pairing.share(body) }
        }
        router.add("/companion/pairing/confirm", method: .post, bodyLimit: BodyLimit.anybody) { _, context in
            try access.requireV2(context)
            let body = try HostJSON.decodeStrictly(PairingConfirmRequest.self, from: context.json)
            let address = try context.address().description
            return try await answer(to: "confirm") {
                // The connection may be another one by now.
                try await access.refuseAgents(command: "pairing/confirm", in: context)
                return try await pairing.confirm(body, address: address)
            }
        }
        router.add("/companion/session", method: .post, bodyLimit: BodyLimit.anybody) { _, context in
            try access.requireV2(context)
            let body = context.json.map { Array($0.readableBytesView) } ?? []
            return .json(try await access.gate.open(body, address: try context.address().description))
        }
    }

    /// Answers a step of a pairing, and logs why it is refused. Guesses are logged where they are counted, right or
    /// wrong.
    private func answer(to step: String, _ body: () async throws -> some Encodable & Sendable) async throws -> Response
    {
        let start = ContinuousClock.now
        do {
            return .json(try await body())
        } catch {
            let code = HostResponseError(describing: error).code
            if code != .pairingWrongCode, code != .pairingWrongToken {
                logger.notice(
                    "pairing \(step)",
                    metadata: .event("pairing", outcome: "refused", code: code?.rawValue, latency: .now - start)
                )
            }
            throw error
        }
    }
}
