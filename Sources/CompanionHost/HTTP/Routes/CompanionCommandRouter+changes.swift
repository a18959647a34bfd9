import CompanionWire
import Hummingbird

extension CompanionCommandRouter {
    /// Adds the routes for the changes and the sessions of agents. They are for devices of v2.
    func addChangesRoutes(to router: Router<HostRequestContext>) {
        add(.get, "/companion/chats/:id/changes", to: router) { request, context in
            _ = try await authenticate(request, context)
            let query = request.uri.queryParameters
            return .json(
                try await worktrees.changes(
                    chatID: context.parameter("id"),
                    wantsDifference: query["stat"].map(String.init) != "1",
                    file: query["file"].map(String.init)
                )
            )
        }
        add(.get, "/companion/sessions", to: router) { request, context in
            _ = try await authenticate(request, context)
            return .json(WorktreesResponse(sessions: try await worktrees.all(isOwner: false)))
        }
        add(.get, "/companion/sessions/:id", to: router) { request, context in
            _ = try await authenticate(request, context)
            let place = try await worktrees.worktree(ofChat: context.parameter("id"), isOwner: false)
            return .json(WorktreeResponse(session: place))
        }
    }
}
