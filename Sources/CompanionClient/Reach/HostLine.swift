import NIOConcurrencyHelpers
import NIOCore
import NIOPosix

/// The way that the connections of a client go. It changes while the client is in use when the host is reached in
/// another way than before.
package final class HostLine: Sendable {
    private struct State {
        var target: ClientTarget
        /// The connections that are open.
        var channels: [ObjectIdentifier: any Channel] = [:]
        /// Those who wait for a change of the network, by number.
        var waiters: [Int: AsyncStream<Void>.Continuation] = [:]
        var waiterCount = 0
    }

    private let state: NIOLockedValueBox<State>
    private let search: (@Sendable () async throws -> ClientTarget)?

    /// A line that stays where it is.
    package init(_ target: ClientTarget) {
        state = NIOLockedValueBox(State(target: target))
        search = nil
    }

    private init(_ target: ClientTarget, search: @escaping @Sendable () async throws -> ClientTarget) {
        state = NIOLockedValueBox(State(target: target))
        self.search = search
    }

    /// Runs a body with a line that leads elsewhere when the host is found there: after a connection has failed, and
    /// after a change of the network that ends it.
    ///
    /// - Parameters:
    ///   - target: Where the host is known to be.
    ///   - search: Looks for the host again.
    package static func with<Result>(
        _ target: ClientTarget,
        isolation: isolated (any Actor)? = #isolation,
        search: @escaping @Sendable () async throws -> ClientTarget,
        _ body: (HostLine) async throws -> Result
    ) async throws -> Result {
        let line = HostLine(target, search: search)
        return try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await line.followNetwork() }
            defer { group.cancelAll() }
            return try await body(line)
        }
    }

    /// The target of the next connection.
    package var target: ClientTarget { state.withLockedValue(\.target) }

    /// Whether the host may be found elsewhere.
    var canMove: Bool { search != nil }

    /// Looks for the host again, unless that has happened since a connection failed. Where the host is not found, the
    /// line stays as it is.
    ///
    /// - Parameter failed: Where the connection went that failed.
    /// - Returns: Whether the line leads elsewhere now.
    @discardableResult
    func renew(after failed: ClientTarget) async -> Bool {
        guard target.isSame(as: failed) else { return true }
        return await look(after: failed) == .elsewhere
    }

    private enum Finding {
        case same, elsewhere, nowhere
    }

    private func look(after failed: ClientTarget) async -> Finding {
        guard let search, let found = try? await search() else { return .nowhere }
        guard !found.isSame(as: failed) else { return .same }
        state.withLockedValue { $0.target = found }
        return .elsewhere
    }
}

// MARK: Changes of the network

extension HostLine {
    /// Keeps an eye on a connection, so that it can be ended when its network is gone.
    func register(_ channel: any Channel) {
        guard canMove else { return }
        let id = ObjectIdentifier(channel)
        state.withLockedValue { $0.channels[id] = channel }
        channel.closeFuture.whenComplete { [state] _ in state.withLockedValue { $0.channels[id] = nil } }
    }

    /// Waits for a time, or until the network has changed.
    func pause(for wait: Duration, by clock: any Clock<Duration>) async throws {
        guard canMove else { return try await clock.sleep(for: wait) }
        let (changes, change) = AsyncStream.makeStream(of: Void.self)
        let number = state.withLockedValue { state in
            state.waiterCount += 1
            state.waiters[state.waiterCount] = change
            return state.waiterCount
        }
        defer { state.withLockedValue { $0.waiters[number] = nil } }
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await clock.sleep(for: wait) }
            group.addTask { for await _ in changes { break } }
            defer { group.cancelAll() }
            try await group.next()
        }
        try Task.checkCancellation()
    }

    private func followNetwork() async {
        var known = Self.ownAddresses()
        var finding = Finding.same
        for await _ in NetworkChanges.stream() {
            let addresses = Self.ownAddresses()
            // Interfaces of containers come and go. While the host is not found, each change may be the one that helps.
            guard addresses != known || finding == .nowhere else { continue }
            let isLess = !known.isSubset(of: addresses)
            known = addresses
            finding = await look(after: target)
            endConnections { channel in
                // Those through a tunnel do not show from where they go. One that may still stand goes on: a long answer
                // is not moved because there is a shorter way now.
                channel.localAddress?.ipAddress.map { !addresses.contains($0) } ?? isLess
            }
            let waiters = state.withLockedValue { Array($0.waiters.values) }
            for waiter in waiters { waiter.yield() }
        }
    }

    private func endConnections(where isOver: (any Channel) -> Bool) {
        for channel in state.withLockedValue({ Array($0.channels.values) }) where isOver(channel) {
            channel.close(promise: nil)
        }
    }

    private static func ownAddresses() -> Set<String> {
        Set(((try? System.enumerateDevices()) ?? []).compactMap { $0.address?.ipAddress })
    }
}
