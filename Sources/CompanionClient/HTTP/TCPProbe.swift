package import CompanionWire
import NIOCore
import NIOPosix

/// Finds out whether anything listens at an address. Nothing is sent.
package enum TCPProbe {
    /// Connects and closes again.
    ///
    /// - Throws: ``CompanionClientError/Code/unreachable``, ``CompanionClientError/Code/refusedAddress``.
    package static func connect(
        to endpoint: CompanionEndpoint,
        timeouts: CompanionClientConfiguration.Timeouts
    ) async throws {
        try endpoint.requireLocal()
        do {
            let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .connectTimeout(TimeAmount(timeouts.connect))
                .connect(host: endpoint.connectName, port: endpoint.port)
                .get()
            channel.close(promise: nil)
        } catch {
            throw CompanionClientError.transport(error, endpoint: endpoint, answered: false, timeouts: timeouts)
        }
    }
}
