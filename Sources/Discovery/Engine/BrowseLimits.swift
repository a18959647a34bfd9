import CompanionWire
import FoundationEssentials

/// The limits of an engine.
package struct BrowseLimits: Sendable, Hashable {
    /// Resolvers at a time. The Avahi daemon allows a client 1,024 objects by default.
    package var resolvers: Int
    /// Records of one network that the engine keeps; nil for no limit.
    package var cacheEntries: Int?

    /// - Parameters:
    ///   - resolvers: The most resolvers at a time. Less than 1 counts as 1.
    ///   - cacheEntries: The most records of one network. Default: nil, no limit.
    package init(resolvers: Int, cacheEntries: Int? = nil) {
        self.resolvers = max(1, resolvers)
        self.cacheEntries = cacheEntries
    }
}

/// The Avahi daemon's limits, from its configuration file: it does not report them.
enum DaemonLimits {
    private static let path = "/etc/avahi/avahi-daemon.conf"
    /// The objects that are kept free for browsers.
    private static let spare = 64

    static func read() -> BrowseLimits {
        let text = FileManager.default.contents(atPath: path).map { String(decoding: $0, as: UTF8.self) }
        return parse(text ?? "")
    }

    /// The defaults are those of avahi-daemon.conf(5).
    static func parse(_ text: String) -> BrowseLimits {
        func value(_ key: String, default fallback: Int) -> Int {
            for line in text.parts("\n") {
                let parts = line.parts("=", maxSplits: 1).map { $0.filter { !$0.isWhitespace } }
                if parts.count == 2, parts[0] == key, let number = Int(parts[1]), number > 0 { return number }
            }
            return fallback
        }
        return BrowseLimits(
            resolvers: max(8, value("objects-per-client-max", default: 1024) - spare),
            cacheEntries: value("cache-entries-max", default: 4096)
        )
    }
}
