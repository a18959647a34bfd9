import Glibc

/// Notices that a cable was plugged in again, or a wireless link came back.
///
/// Interfaces and addresses that come and go are the engines' own business. But they do not look at the carrier: what
/// was announced or withdrawn while there was none has passed them by, and they would ask again after up to an hour
/// only (RFC 6762, section 5.2).
package struct LinkDetector: Sendable {
    /// A network interface, for as long as it exists.
    package struct Link: Hashable, Sendable {
        /// The kernel's index of the interface.
        package var index: UInt32
        /// The kernel's name of the interface, such as `eth0`.
        package var name: String

        package init(index: UInt32, name: String) {
            self.index = index
            self.name = name
        }
    }

    /// How often to look.
    static let period = Duration.seconds(1)

    private var counts: [Link: Int]

    /// - Parameter counts: How often each link has come up so far.
    package init(_ counts: [Link: Int]) {
        self.counts = counts
    }

    /// Takes in how often each link has come up by now.
    ///
    /// - Returns: The name of a link that has come back since the last look; nil if none has. One that is new has not.
    package mutating func look(_ counts: [Link: Int]) -> String? {
        defer { self.counts = counts }
        return counts.filter { link, count in self.counts[link].map { $0 < count } ?? false }.keys.map(\.name).min()
    }

    /// Waits until a link is back. Returns nil when the task was cancelled.
    ///
    /// - Parameter interface: The one interface to look at; nil for all.
    static func waitForReturn(of interface: String?) async -> DiscoveryError? {
        var detector = LinkDetector(currentCounts(of: interface))
        while (try? await Task.sleep(for: period)) != nil {
            guard let name = detector.look(currentCounts(of: interface)) else { continue }
            return DiscoveryError(.engineLost, message: "the link of \(name) was away")
        }
        return nil
    }

    /// Reads how often each link has come up, as the kernel counts it (`carrier_up_count` in sysfs, since Linux 4.16).
    private static func currentCounts(of interface: String?) -> [Link: Int] {
        guard let list = if_nameindex() else { return [:] }
        defer { if_freenameindex(list) }
        var counts: [Link: Int] = [:]
        var entry = list
        while entry.pointee.if_index != 0, let pointer = entry.pointee.if_name {
            let name = String(cString: pointer)
            if interface == nil || interface == name, let count = number("/sys/class/net/\(name)/carrier_up_count") {
                counts[Link(index: entry.pointee.if_index, name: name)] = count
            }
            entry += 1
        }
        return counts
    }

    private static func number(_ path: String) -> Int? {
        guard let file = fopen(path, "re") else { return nil }
        defer { fclose(file) }
        var buffer = [CChar](repeating: 0, count: 32)
        guard fgets(&buffer, Int32(buffer.count), file) != nil else { return nil }
        return Int(atol(buffer))
    }
}
