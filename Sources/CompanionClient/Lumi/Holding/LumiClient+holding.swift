import CompanionWire
import Glibc
import NIOCore

extension LumiClient {
    /// Takes over a connection that a holder has kept, once the Mac has shown that it still accepts it.
    ///
    /// - Parameter deviceName: As the connection was accepted for.
    /// - Throws: ``CompanionClientError`` where the connection is of no use any more; nothing but a ping was sent then.
    package func takeOver(deviceName: String) async throws {
        let state = try await exchange(.holderState)
        guard let number = Int(state.result), let kept = LumiGeneration(rawValue: number) else {
            throw CompanionClientError(
                .badAnswer,
                "The process that keeps the connection to \(endpoint) has another version."
            )
        }
        // Hosts of the second generation want their code with each ping.
        if kept == .approval {
            let answer = try await exchange(.ping(deviceName: deviceName))
            guard answer.success, answer.result == "pong" else {
                throw CompanionClientError(.notPaired, "\(endpoint) does not accept the kept connection any more.")
            }
        }
        generation = kept
    }

    /// A descriptor of the connection that outlives this client, for a holder.
    ///
    /// - Returns: nil where the connection is of no use to others: it is not accepted, it has ended, or an answer is out.
    package func duplicateTransport() async -> Int32? {
        guard generation != nil, isIdle else { return nil }
        let channel = channel
        let descriptor = try? await channel.eventLoop.submit {
            try channel.pipeline.syncOperations.withUnsafeTransportIfAvailable(of: NIOBSDSocket.Handle.self) {
                fcntl($0, F_DUPFD_CLOEXEC, 10)
            }
        }.get()
        guard let descriptor = descriptor ?? nil, descriptor >= 0 else { return nil }
        return descriptor
    }
}
