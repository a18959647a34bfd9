import CompanionWire
import Hummingbird
import Logging

/// The start of a pairing, which only the owner at this machine may ask for, and its end by v1.
struct PairingV1Routes: RouteGroup {
    let access: RequestAccess
    let pairing: CompanionPairingService
    let turns: TurnRunner
    let logger: Logger

    func addRoutes(to router: Router<HostRequestContext>) {
        router.add("/companion/pairing/start", method: .post, bodyLimit: BodyLimit.anybody) { request, context in
            guard context.isLoopback, context.version == 1, !context.isSecure else {
                throw HostResponseError(.forbidden, "Pairing can only be started on the host machine itself")
            }
            guard !request.isForm else {
                throw HostResponseError(.unsupportedMediaType, "Forms are refused: send application/json")
            }
            guard await access.localPeers.isOwner(context.channel) else {
                logger.notice("pairing start", metadata: .event("pairing", outcome: "refused"))
                throw HostResponseError(
                    .forbidden,
                    "Only the user who runs this host may start a pairing: ask them for a code"
                )
            }
            try await access.refuseAgents(command: "pairing/start", in: context)
            let body = try HostJSON.decode(PairingStartBody.self, from: context.json)
            return .json(await pairing.start(ttlSeconds: body.ttlSeconds))
        }
        router.add("/companion/pairing/complete", method: .post, bodyLimit: BodyLimit.anybody) { _, context in
            guard context.version == 1 else {
                throw HostResponseError(
                    .forbidden,
                    "Version 2 pairs with pairing/hello, pairing/share and pairing/confirm"
                )
            }
            let address = try context.address()
            let request = try HostJSON.decode(PairingCompleteBody.self, from: context.json).request
            try await access.refuseAgents(command: "pairing/complete", in: context)
            let before = access.devices.connection?.device.id
            let device = try await pairing.complete(request, address: address)
            // Another one may have taken its place meanwhile.
            if access.devices.connection?.device.id == device {
                await access.localPeers.notePairing(of: device, over: context.channel)
            }
            if let before { access.revocations.end(before) }
            turns.endTurnsOfOthers()
            return await access.status(for: context)
        }
    }
}
