import CompanionWire
import HTTPTypes
import Hummingbird
import Logging

extension CompanionCommandRouter {
    func addPairingRoutes(to router: Router<HostRequestContext>) {
        add(.get, "/companion/status", to: router) { _, context in status(for: context) }
        add(.get, "/companion/devices", to: router) { _, context in
            try requireManager(context)
            return .json(DevicesListResponse(devices: try await devices.devices()))
        }
        add(.post, "/companion/pairing/start", to: router) { _, context in
            guard context.isLoopback else { throw HostResponseError(.forbidden, HostErrorText.loopbackOnly) }
            let body = try HostJSON.decode(PairingStartBody.self, from: context.json)
            return .json(await pairing.start(ttlSeconds: body.ttlSeconds))
        }
        add(.post, "/companion/pairing/complete", to: router) { _, context in
            guard let peer = context.peer else { throw HostResponseError(.badRequest, HostErrorText.internalError) }
            let body = try HostJSON.decode(PairingCompleteBody.self, from: context.json)
            try await pairing.complete(body, address: peer)
            turns.endTurnsOfOthers()
            return status(for: context)
        }
        add(.post, "/companion/disconnect", to: router) { _, context in
            // Where nobody is connected there is nothing to protect, and disconnecting twice is no error.
            if devices.connection != nil { try requireManager(context) }
            let disconnected = try await devices.disconnect()
            turns.endTurnsOfOthers()
            if let device = disconnected {
                logger.info("device disconnected", metadata: ["device": "\(device.id)"])
                events.send(.disconnected(device))
            }
            return status(for: context)
        }
        add(.delete, "/companion/devices/:id", to: router) { _, context in
            let id = try context.parameter("id")
            guard !id.isEmpty else {
                throw HostResponseError(.badRequest, CompanionErrorResponse.Text.missingDeviceID)
            }
            try requireManager(context)
            let removal = try await devices.remove(id: id)
            turns.endTurnsOfOthers()
            if let device = removal.disconnected { events.send(.disconnected(device)) }
            if removal.known {
                logger.info("device revoked", metadata: ["device": "\(id)"])
                events.send(.revoked(id: id))
            }
            return status(for: context)
        }
    }
}
