import CompanionWire
import HTTPTypes
import Hummingbird
import Logging

extension CompanionCommandRouter {
    func addPairingRoutes(to router: Router<HostRequestContext>) {
        add(.get, path: "/companion/status", to: router) { request, context in
            guard context.version >= 2, request.headers[.authorization] != nil else {
                return await status(for: context)
            }
            return status(of: try await authenticate(request, in: context))
        }
        add(.get, path: "/companion/devices", to: router) { request, context in
            if context.version >= 2 {
                _ = try await authenticate(request, in: context)
            } else {
                try await requireManager(context)
            }
            return .json(DevicesListResponse(devices: devices.devices().map(\.companionDevice)))
        }
        add(.post, path: "/companion/pairing/start", bodyLimit: BodyLimit.anybody, to: router) { request, context in
            guard context.isLoopback, context.version == 1, !context.isSecure else {
                throw HostResponseError(.forbidden, HostErrorText.loopbackOnly)
            }
            guard !request.isForm else { throw HostResponseError(.unsupportedMediaType, HostErrorText.noForms) }
            guard await localPeers.isOwner(context.channel) else {
                logger.notice("pairing start", metadata: .event("pairing", outcome: "refused"))
                throw HostResponseError(.forbidden, HostErrorText.ownUserOnly)
            }
            try await refuseAgents("pairing/start", in: context)
            let body = try HostJSON.decode(PairingStartBody.self, from: context.json)
            return .json(await pairing.start(ttlSeconds: body.ttlSeconds))
        }
        add(.post, path: "/companion/pairing/complete", bodyLimit: BodyLimit.anybody, to: router) { _, context in
            guard context.version == 1 else { throw HostResponseError(.forbidden, HostErrorText.pairingProven) }
            guard let peer = context.peer else { throw HostResponseError(.badRequest, HostErrorText.internalError) }
            let request = try HostJSON.decode(PairingCompleteBody.self, from: context.json).request
            try await refuseAgents("pairing/complete", in: context)
            let before = devices.connection?.device.id
            let device = try await pairing.complete(request, address: peer)
            // Another one may have taken its place meanwhile.
            if devices.connection?.device.id == device {
                await localPeers.notePairing(of: device, over: context.channel)
            }
            if let before { revocations.end(before) }
            turns.endTurnsOfOthers()
            return await status(for: context)
        }
        add(.post, path: "/companion/disconnect", to: router) { request, context in
            if context.version >= 2 {
                let device = try await authenticate(request, in: context)
                try await refuseAgents("disconnect", in: context)
                try await control.disconnect(device)
                return .json(CompanionStatusResponse(connectedDevice: nil))
            }
            // It takes no body; what says that it is JSON has to be.
            try await context.checkBody(ofRefused: request)
            // Without a connected device there is nothing to protect, and disconnecting twice is no error.
            if devices.connection != nil {
                try await requireManager(context)
                try await refuseAgents("disconnect", in: context)
            }
            try await control.disconnect()
            return await status(for: context)
        }
        add(.delete, path: "/companion/devices/:id", to: router) { request, context in
            let id = try context.parameter("id")
            guard !id.isEmpty else {
                throw HostResponseError(.badRequest, CompanionErrorResponse.Text.missingDeviceID)
            }
            if context.version >= 2 {
                let device = try await authenticate(request, in: context)
                guard device.id == id else { throw HostResponseError(.forbidden, HostErrorText.onlyAtHost) }
                try await refuseAgents("revoke", in: context)
                try await control.revoke(id, by: id)
                return .json(CompanionStatusResponse(connectedDevice: nil))
            }
            try await requireManager(context)
            try await refuseAgents("revoke", in: context)
            // Who speaks v1 has proven nothing that would outweigh a proven pairing.
            guard (devices.device(id: id)?.protocolVersion ?? 1) < 2 else {
                throw HostResponseError(.forbidden, HostErrorText.onlyAtHost)
            }
            try await control.revoke(id, by: try address(of: context))
            return await status(for: context)
        }
    }

    /// Adds the routes for the steps of a pairing by v2, and for the opening of a session.
    func addPairingV2Routes(to router: Router<HostRequestContext>) {
        add(.post, path: "/companion/pairing/hello", bodyLimit: BodyLimit.anybody, to: router) { _, context in
            try requireV2(context)
            let body = try HostJSON.decodeStrictly(PairingHelloRequest.self, from: context.json)
            let address = try address(of: context)
            return .json(
                try await noted("hello") {
                    // Finding the process of a peer takes long: not as often as somebody likes.
                    try await pairing.admit(address)
                    try await refuseAgents("pairing/hello", in: context)
                    return try await pairing.hello(body, address: address)
                }
            )
        }
        add(.post, path: "/companion/pairing/share", bodyLimit: BodyLimit.anybody, to: router) { _, context in
            try requireV2(context)
            let body = try HostJSON.decodeStrictly(PairingShareRequest.self, from: context.json)
            return .json(try await noted("share") { try await pairing.share(body) })
        }
        add(.post, path: "/companion/pairing/confirm", bodyLimit: BodyLimit.anybody, to: router) { _, context in
            try requireV2(context)
            let body = try HostJSON.decodeStrictly(PairingConfirmRequest.self, from: context.json)
            let address = try address(of: context)
            return .json(
                try await noted("confirm") {
                    // The connection may be another one by now.
                    try await refuseAgents("pairing/confirm", in: context)
                    return try await pairing.confirm(body, address: address)
                }
            )
        }
        add(.post, path: "/companion/session", bodyLimit: BodyLimit.anybody, to: router) { _, context in
            try requireV2(context)
            let body = context.json.map { Array($0.readableBytesView) } ?? []
            return .json(try await gate.open(body, address: try address(of: context)))
        }
    }

    /// Logs why a step of a pairing is refused. Guesses are logged where they are counted, right or wrong.
    private func noted<Answer: Sendable>(_ step: String, _ answer: () async throws -> Answer) async throws -> Answer {
        let start = ContinuousClock.now
        do {
            return try await answer()
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

    private func address(of context: HostRequestContext) throws -> String {
        guard let peer = context.peer else { throw HostResponseError(.badRequest, HostErrorText.internalError) }
        return peer.description
    }

    /// The answer to a device of v2 that asks for its own status.
    private func status(of device: AuthenticatedDevice) -> Response {
        guard let known = devices.device(id: device.id) else {
            return .json(CompanionStatusResponse(connectedDevice: nil))
        }
        let connected = ConnectedCompanionDevice(
            id: known.id,
            name: known.name,
            connectedAt: known.pairedAt,
            lastSeenAt: known.lastSeenAt
        )
        return .json(
            CompanionStatusResponse(
                connectedDevice: connected,
                permissions: device.permissions,
                device: known.companionDevice,
                expiresAt: device.expiresAt
            )
        )
    }
}
