/// What a device may do at a host besides reading (companion-v2, Signed commands). Unknown names are kept as they are.
package struct CompanionPermission: RawRepresentable, Codable, Sendable, Hashable {
    package let rawValue: String

    package init(rawValue: String) {
        self.rawValue = rawValue
    }

    package static let chatCreate = CompanionPermission(rawValue: "chat.create")
    package static let chatSend = CompanionPermission(rawValue: "chat.send")
    package static let projectCreate = CompanionPermission(rawValue: "project.create")
    package static let sessionCreate = CompanionPermission(rawValue: "session.create")

    /// Every permission that this build knows, in the order in which they are shown.
    package static let all: [CompanionPermission] = [.chatCreate, .chatSend, .projectCreate, .sessionCreate]
}
