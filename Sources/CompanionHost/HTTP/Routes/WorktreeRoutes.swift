import CompanionWire
import Hummingbird

/// The changes that agents make, and the worktrees of their sessions, for devices of v2.
struct WorktreeRoutes: RouteGroup {
    let access: RequestAccess
    let worktrees: Worktrees

    func addRoutes(to router: Router<HostRequestContext>) {
        router.add("/companion/chats/:id/changes") { request, context in
            _ = try await access.authenticate(request, in: context)
            let query = request.uri.queryParameters
            return .json(
                try await worktrees.changes(
                    chatID: context.parameter("id"),
                    wantsDifference: query["stat"].map(String.init) != "1",
                    file: query["file"].map(String.init)
                )
            )
        }
        router.add("/companion/sessions") { request, context in
            _ = try await access.authenticate(request, in: context)
            return .json(WorktreesResponse(sessions: try await worktrees.all(isOwner: false)))
        }
        router.add("/companion/sessions/:id") { request, context in
            _ = try await access.authenticate(request, in: context)
            let worktree = try await worktrees.worktree(ofChat: context.parameter("id"), isOwner: false)
            return .json(WorktreeResponse(session: worktree))
        }
    }
}
