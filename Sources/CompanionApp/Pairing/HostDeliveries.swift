package import Identity
import NIOConcurrencyHelpers

/// Sends what waits for hosts that come into sight: to each host one at a time, however often it is advertised.
package struct HostDeliveries: Sendable {
    /// The hosts that are sent to, and whether they were seen once more since.
    private let hosts = NIOLockedValueBox<[String: Bool]>([:])

    package init() {}

    /// Runs until there are no more sights.
    ///
    /// - Parameters:
    ///   - host: The host in sight; nil if nothing waits for it.
    ///   - send: Sends what waits for a host.
    package func run<Sight: Sendable>(
        _ sights: AsyncStream<Sight>,
        host: @Sendable (Sight) async -> PairedHost?,
        send: @escaping @Sendable (PairedHost) async -> Void
    ) async {
        await withDiscardingTaskGroup { group in
            for await sight in sights {
                guard let host = await host(sight), isIdle(host) else { continue }
                group.addTask {
                    // It may have been away meanwhile: then it is tried once more.
                    while wasSeen(host), !Task.isCancelled { await send(host) }
                }
            }
        }
    }

    /// Notes that a host was seen.
    ///
    /// - Returns: Whether nobody sends to it.
    private func isIdle(_ host: PairedHost) -> Bool {
        hosts.withLockedValue { $0.updateValue(true, forKey: host.id) == nil }
    }

    /// Whether the host was seen since the last call; if not, nobody sends to it any more.
    private func wasSeen(_ host: PairedHost) -> Bool {
        hosts.withLockedValue { hosts in
            guard hosts.removeValue(forKey: host.id) == true else { return false }
            hosts[host.id] = false
            return true
        }
    }
}
