import CompanionWire
import Hummingbird
import Relay

/// How a device reaches this host from other networks.
struct ReachRoutes: RouteGroup {
    let access: RequestAccess
    let relays: HostRelays

    func addRoutes(to router: Router<HostRequestContext>) {
        router.add("/companion/reach", method: .post, bodyLimit: BodyLimit.anybody) { request, context in
            let device = try await access.authenticate(request, in: context)
            let body = try HostJSON.decodeStrictly(CompanionReachRequest.self, from: context.json)
            // One that came by a relay has shown its id there. Nobody takes the id of another.
            if context.relayID == nil, relays.identity != nil, let id = body.relayId,
                access.devices.device(relayID: id) == nil,
                let old = try await access.devices.setRelayID(id, of: device.id)
            {
                relays.end(old)
            }
            return .json(CompanionReachResponse(relayId: relays.identity?.id, relays: relays.addresses))
        }
    }
}
