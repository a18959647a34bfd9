/// How much a device may have the host store. nil: without a limit.
///
/// Without a limit a device fills a disk within minutes, and everything else fails on a full disk.
package struct DeviceQuota: Sendable, Hashable {
    /// Projects that it makes within 24 hours. Default: 50.
    package var projects: Int?
    /// Chats that it makes within 24 hours. Default: 500.
    package var chats: Int?
    /// Its prompts and the answers to them within 24 hours. Default: 5,000.
    package var messages: Int?
    /// Bytes of their texts within 24 hours. Default: 32 MiB.
    package var bytes: Int?
    /// Bytes of all texts ever. Default: 1 GiB.
    package var totalBytes: Int?

    package init(
        projects: Int? = 50,
        chats: Int? = 500,
        messages: Int? = 5000,
        bytes: Int? = 32 << 20,
        totalBytes: Int? = 1 << 30
    ) {
        self.projects = projects
        self.chats = chats
        self.messages = messages
        self.bytes = bytes
        self.totalBytes = totalBytes
    }

    package static let usual = DeviceQuota()
    /// No limits.
    package static let unlimited = DeviceQuota(projects: nil, chats: nil, messages: nil, bytes: nil, totalBytes: nil)
}

/// What a device has had the host store.
struct DeviceUsage: Sendable, Hashable {
    var projects = 0
    var chats = 0
    var messages = 0
    /// Of texts, in UTF-8.
    var bytes = 0
}

extension DeviceQuota {
    /// What there would be too much of.
    enum Excess: Sendable, Hashable {
        case projects(Int)
        case chats(Int)
        case messages(Int)
        case bytes(Int)
        case totalBytes(Int)

        /// For people: what a device has reached.
        var text: String {
            switch self {
            case .projects(let limit): "\(limit) new projects within 24 hours"
            case .chats(let limit): "\(limit) new chats within 24 hours"
            case .messages(let limit): "\(limit) messages within 24 hours"
            case .bytes(let limit): "\(Self.size(limit)) of messages within 24 hours"
            case .totalBytes(let limit): "\(Self.size(limit)) of messages in all"
            }
        }

        /// Whether time alone helps.
        var passes: Bool {
            if case .totalBytes = self { false } else { true }
        }

        private static func size(_ bytes: Int) -> String {
            let units = [(30, "GiB"), (20, "MiB"), (10, "KiB")]
            for (shift, name) in units where bytes >= 1 << shift && bytes % (1 << shift) == 0 {
                return "\(bytes >> shift) \(name)"
            }
            return "\(bytes) bytes"
        }
    }

    /// - Parameters:
    ///   - more: What is to be stored.
    ///   - day: What was stored within 24 hours.
    ///   - totalBytes: What was ever stored.
    /// - Returns: What there would be too much of; nil where all of it may be stored.
    func excess(_ more: DeviceUsage, day: DeviceUsage, totalBytes all: Int) -> Excess? {
        if let projects, more.projects > 0, day.projects + more.projects > projects { return .projects(projects) }
        if let chats, more.chats > 0, day.chats + more.chats > chats { return .chats(chats) }
        if let messages, more.messages > 0, day.messages + more.messages > messages { return .messages(messages) }
        if let bytes, more.bytes > 0, day.bytes + more.bytes > bytes { return .bytes(bytes) }
        if let totalBytes, more.bytes > 0, all + more.bytes > totalBytes { return .totalBytes(totalBytes) }
        return nil
    }
}
