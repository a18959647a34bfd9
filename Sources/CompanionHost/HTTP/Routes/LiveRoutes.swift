import CompanionWire
import HTTPTypes
import Hummingbird

/// The live feed, a WebSocket for devices of v2.
struct LiveRoutes: RouteGroup {
    let access: RequestAccess

    func addRoutes(to router: Router<HostRequestContext>) {
        router.add("/companion/live", hasHead: false) { request, context in
            let device = try await access.authenticate(request, in: context)
            guard let upgrade = context.upgrade else {
                // RFC 9110, 15.5.22: an answer with 426 says what to upgrade to.
                throw HostResponseError(
                    .upgradeRequired,
                    "The live feed is a WebSocket (RFC 6455): upgrade to it",
                    code: .requestInvalid,
                    headers: [.upgrade: "websocket", .connection: "Upgrade"]
                )
            }
            upgrade.device = device
            return Response(status: .switchingProtocols)
        }
    }
}
