import CompanionWire
import Hummingbird

extension CompanionCommandRouter {
    /// Adds the routes for the changes and the sessions of agents. They are for devices of v2.
    func addChangesRoutes(to router: Router<HostRequestContext>) {
        add(.get, path: "/companion/chats/:id/changes", to: router) { request, context in
            _ = try await authenticate(request, in: context)
            let query = request.uri.queryParameters
            return .json(
                try await worktrees.changes(
                    chatID: context.parameter("id"),
                    wantsDifference: query["stat"].map(String.init) != "1",
                    file: query["file"].map(String.init)
                )
            )
        }
        add(.get, path: "/companion/sessions", to: router) { request, context in
            _ = try await authenticate(request, in: context)
            return .json(WorktreesResponse(sessions: try await worktrees.all(isOwner: false)))
        }
        add(.get, path: "/companion/sessions/:id", to: router) { request, context in
            _ = try await authenticate(request, in: context)
            let place = try await worktrees.worktree(ofChat: context.parameter("id"), isOwner: false)
            return .json(WorktreeResponse(session: place))
        }
    }
}
