import CompanionWire
import HTTPTypes
import Hummingbird

extension CompanionCommandRouter {
    /// What agents have changed, and where they work: for devices of v2.
    func addChangesRoutes(to router: Router<HostRequestContext>) {
        add(.get, "/companion/chats/:id/changes", to: router) { request, context in
            _ = try await authenticate(request, context)
            let query = request.uri.queryParameters
            return .json(
                try await places.changes(
                    chatID: context.parameter("id"),
                    wantsDifference: query["stat"].map(String.init) != "1",
                    file: query["file"].map(String.init)
                )
            )
        }
        add(.get, "/companion/sessions", to: router) { request, context in
            _ = try await authenticate(request, context)
            return .json(AgentPlacesResponse(sessions: try await places.all(isOwner: false)))
        }
        let one: RouterPath = "/companion/sessions/:id"
        router.on(one, method: .get) { request, context -> Response in
            _ = try await authenticate(request, context)
            let place = try await places.place(ofChat: context.parameter("id"), isOwner: false)
            return .json(AgentPlaceResponse(session: place))
        }
        router.on(one, method: .delete) { request, context -> Response in
            let device = try await admit(request, context, for: .sessionCreate)
            try requireV2(context)
            let isForced = request.uri.queryParameters["force"].map(String.init) == "1"
            let removed = try await places.remove(
                chat: context.parameter("id"),
                isForced: isForced,
                by: device.id
            )
            return .json(AgentPlaceResponse(session: removed))
        }
        for other in [HTTPRequest.Method.head, .post, .put, .patch, .options, .trace] {
            router.on(one, method: other) { _, _ -> Response in
                throw HostResponseError(
                    .methodNotAllowed,
                    HostErrorText.methodNotAllowed,
                    headers: [.allow: "GET, DELETE"]
                )
            }
        }
    }
}
