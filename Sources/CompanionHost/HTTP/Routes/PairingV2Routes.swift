import CompanionWire
import Hummingbird
import Logging

/// The steps of a pairing by v2, and the opening of sessions.
struct PairingV2Routes: RouteGroup {
    let access: RequestAccess
    let pairing: CompanionPairingService
    let logger: Logger

    /// Anybody may call over a relay: six digits are few.
    private static let needsToken = HostError(
        .requestForbidden,
        "Over a relay, pair with the QR code: six digits work on the host's own network only"
    )

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
            return try await answer(to: "share") {
                guard context.relayID == nil || body.method != .code else { throw Self.needsToken }
                return try await pairing.share(body)
            }
        }
        router.add("/companion/pairing/confirm", method: .post, bodyLimit: BodyLimit.anybody) { _, context in
            try access.requireV2(context)
            let body = try HostJSON.decodeStrictly(PairingConfirmRequest.self, from: context.json)
            let address = try context.address().description
            return try await answer(to: "confirm") {
                // The connection may be another one by now.
                let isHere = try await access.refuseAgents(command: "pairing/confirm", in: context)
                let answer = try await pairing.confirm(body, address: address, relayID: context.relayID)
                if isHere { await access.devices.setHere(answer.connectedDevice.id) }
                return answer
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
