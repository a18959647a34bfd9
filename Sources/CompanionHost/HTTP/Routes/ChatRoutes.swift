import CompanionWire
import Hummingbird

/// The projects, their chats and the messages of these.
struct ChatRoutes: RouteGroup {
    let access: RequestAccess
    let store: CompanionHostStore
    let chats: AgentChats

    func addRoutes(to router: Router<HostRequestContext>) {
        router.add("/companion/projects") { request, context in
            try await access.admit(request, in: context)
            return .json(try await store.projectsList())
        }
        router.add("/companion/projects/:id/chats") { request, context in
            try await access.admit(request, in: context)
            var chats = try await chats.chats(projectID: context.parameter("id"))
            if context.version < 2 {
                for index in chats.indices {
                    (chats[index].mode, chats[index].model) = (nil, nil)
                    (chats[index].origin, chats[index].isOpenElsewhere) = (nil, nil)
                }
            }
            return .json(CompanionChatsResponse(chats: chats))
        }
        router.add("/companion/chats/:id/messages") { request, context in
            try await access.admit(request, in: context)
            let chatID = try context.chatID()
            let cursor = request.integer("cursor") ?? 0
            let last = context.version < 2 ? nil : request.integer("last")
            // Not between two pages.
            if cursor <= 0 || last != nil { try await chats.prepare(chatID) }
            let page = try await store.messagesPage(
                chatID: chatID,
                offset: cursor,
                last: last,
                limit: request.integer("limit") ?? CompanionHostStore.defaultPageSize
            )
            return .json(page)
        }
    }
}
