package import FoundationEssentials

/// A device that has paired with a host.
package struct CompanionDevice: Codable, Sendable, Hashable, Identifiable {
    /// First 16 hex digits of SHA-256 over the device's public key text.
    package var id: String
    /// The name that the device gave itself; empty if there is none that can be read.
    package var name: String
    /// The time of the pairing; nil if the host tells none, or none that can be read.
    package var pairedAt: Date?
    /// The time of the device's last request; nil if the host tells none, or none that can be read.
    package var lastSeenAt: Date?
    /// The rung by which it last came; nil if the host does not tell it.
    package var via: HostRoute.Rung?

    package init(
        id: String,
        name: String,
        pairedAt: Date?,
        lastSeenAt: Date?,
        via: HostRoute.Rung? = nil
    ) {
        self.via = via
        self.id = id
        self.name = name
        self.pairedAt = pairedAt
        self.lastSeenAt = lastSeenAt
    }

    /// Only the id has to be there: what can be revoked is to be listed, whatever else is wrong with it.
    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        id = try container.decode(String.self, forKey: .id)
        name = (try? container.decodeIfPresent(String.self, forKey: .name)) ?? ""
        pairedAt = try? container.decodeIfPresent(Date.self, forKey: .pairedAt)
        lastSeenAt = try? container.decodeIfPresent(Date.self, forKey: .lastSeenAt)
        via = try? container.decodeIfPresent(HostRoute.Rung.self, forKey: .via)
    }
}

/// The answer of `GET /companion/devices`.
package struct DevicesListResponse: Codable, Sendable, Hashable {
    package var ok: Bool
    package var devices: LossyArray<CompanionDevice>

    package init(devices: [CompanionDevice]) {
        self.ok = true
        self.devices = LossyArray(devices)
    }
}

/// A permission of a device at a host; reading needs none (companion-v2, Signed commands). Unknown names are kept as
/// they are.
package struct CompanionPermission: RawRepresentable, Codable, Sendable, Hashable {
    package let rawValue: String

    package init(rawValue: String) {
        self.rawValue = rawValue
    }

    /// Making chats, with the command `chat.create`.
    package static let chatCreate = CompanionPermission(rawValue: "chat.create")
    /// Sending prompts, and stopping the turns that they began.
    package static let chatSend = CompanionPermission(rawValue: "chat.send")
    /// Making projects, with the command `project.create`.
    package static let projectCreate = CompanionPermission(rawValue: "project.create")
    /// Beginning sessions in a project, with the command `session.create`.
    package static let sessionCreate = CompanionPermission(rawValue: "session.create")
    /// Answering the questions of the host's agent. Only a device that asks for it when it pairs can get it, or one
    /// that the host's owner gives it to.
    package static let approve = CompanionPermission(rawValue: "approve")

    /// Every permission that this build knows, in the order in which they are shown.
    package static let all = beforePermissions + [.approve]

    /// The permissions of a device that paired by version 1, or before permissions existed.
    package static let beforePermissions: [CompanionPermission] = [
        .chatCreate, .chatSend, .projectCreate, .sessionCreate,
    ]
}

extension [CompanionPermission] {
    /// All that a device with these permissions may do, for people: `read, chat.send`.
    package var rights: String { (["read"] + map(\.rawValue)).joined(separator: ", ") }
}
