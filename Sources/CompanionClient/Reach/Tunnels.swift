package import CompanionWire
import NIOConcurrencyHelpers

/// The tunnels that one client uses, one after the other. They end together.
package struct Tunnels: Sendable {
    private let settings: Tunnel.Settings
    private let work: AsyncStream<@Sendable () async -> Void>.Continuation
    private let open = NIOLockedValueBox<[HostRoute: Tunnel]>([:])

    /// Runs a body that opens tunnels, and ends them afterwards.
    package static func with<Result>(
        _ settings: Tunnel.Settings,
        isolation: isolated (any Actor)? = #isolation,
        _ body: (Tunnels) async throws -> Result
    ) async throws -> Result {
        let (jobs, work) = AsyncStream.makeStream(of: (@Sendable () async -> Void).self)
        return try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                await withDiscardingTaskGroup { tunnels in
                    for await job in jobs { tunnels.addTask { await job() } }
                }
            }
            defer { group.cancelAll() }
            return try await body(Tunnels(settings: settings, work: work))
        }
    }

    /// Returns the target for a route. A tunnel for it stays open until all end.
    ///
    /// - Throws: ``CompanionClientError/Code/unreachable`` where no tunnel can begin.
    package func target(of route: HostRoute) async throws -> ClientTarget {
        if case .direct(let name) = route { return .name(name) }
        if let tunnel = open.withLockedValue({ $0[route] }) { return .tunnel(tunnel) }
        let settings = settings
        let (opened, opening) = AsyncThrowingStream.makeStream(of: Tunnel.self)
        work.yield {
            do {
                try await Tunnel.with(route, settings: settings) { tunnel in
                    opening.yield(tunnel)
                    // Until the task is cancelled.
                    let (never, end) = AsyncStream.makeStream(of: Never.self)
                    for await _ in never {}
                    end.finish()
                }
            } catch {
                opening.finish(throwing: error)
            }
        }
        for try await tunnel in opened {
            open.withLockedValue { $0[route] = tunnel }
            return .tunnel(tunnel)
        }
        throw CancellationError()
    }
}
