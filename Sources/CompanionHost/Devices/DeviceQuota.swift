/// How much a device may have the host store within 24 hours. nil: without a limit.
///
/// Without a limit a device fills a disk within minutes, and everything else fails on a full disk.
package struct DeviceQuota: Sendable, Hashable {
    /// New chats; a new project counts as one. Default: 500.
    package var chats: Int?
    /// Bytes of titles, prompts and the answers to them. Default: 32 MiB.
    package var bytes: Int?

    package init(chats: Int? = 500, bytes: Int? = 32 << 20) {
        self.chats = chats
        self.bytes = bytes
    }

    /// The default limits.
    package static let usual = DeviceQuota()
    /// No limits.
    package static let unlimited = DeviceQuota(chats: nil, bytes: nil)

    /// The limit that would be exceeded, for people.
    ///
    /// - Parameters:
    ///   - more: The usage that is to be added.
    ///   - day: The usage of the last 24 hours.
    /// - Returns: nil if all of it may be stored.
    func limit(exceededBy more: DeviceUsage, after day: DeviceUsage) -> String? {
        if let chats, more.chats > 0, day.chats + more.chats > chats {
            return "\(chats) new chats and projects within 24 hours"
        }
        if let bytes, more.bytes > 0, day.bytes + more.bytes > bytes {
            return "\(Self.format(bytes: bytes)) of messages within 24 hours"
        }
        return nil
    }

    private static func format(bytes: Int) -> String {
        let units = [(30, "GiB"), (20, "MiB"), (10, "KiB")]
        for (shift, name) in units where bytes >= 1 << shift && bytes % (1 << shift) == 0 {
            return "\(bytes >> shift) \(name)"
        }
        return "\(bytes) bytes"
    }
}

/// The amount that a device has had the host store.
struct DeviceUsage: Sendable, Hashable {
    var chats = 0
    var bytes = 0

    /// A prompt or an answer: its text in UTF-8, and 1 KiB for what is stored besides, so that many short messages
    /// count, too.
    static func message(_ text: String) -> DeviceUsage {
        DeviceUsage(bytes: text.utf8.count + 1024)
    }
}
