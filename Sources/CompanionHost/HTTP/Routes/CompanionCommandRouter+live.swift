import CompanionWire
import HTTPTypes
import Hummingbird

extension CompanionCommandRouter {
    func addLiveRoute(to router: Router<HostRequestContext>) {
        add(.get, "/companion/live", hasHead: false, to: router) { request, context in
            let device = try await authenticate(request, context)
            guard let ticket = context.ticket else {
                // RFC 9110, 15.5.22: an answer with 426 says what to upgrade to.
                throw HostResponseError(
                    .upgradeRequired,
                    HostErrorText.webSocketRequired,
                    code: .requestInvalid,
                    headers: [.upgrade: "websocket", .connection: "Upgrade"]
                )
            }
            ticket.device = device
            return Response(status: .switchingProtocols)
        }
    }
}
