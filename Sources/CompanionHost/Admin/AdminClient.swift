import CompanionWire
import FoundationEssentials
import NIOCore
import NIOPosix

/// Asks the host that runs on this machine.
package struct AdminClient: Sendable {
    /// Bytes that an answer may have.
    static let maximumAnswerSize = 16 << 20

    private let path: String

    /// - Parameter path: Where the host's socket is.
    package init(path: String) {
        self.path = path
    }

    /// Sends a request and waits for its answer.
    ///
    /// - Throws: ``AdminError``: `notRunning`, `notAllowed`, `badAnswer`, or `refused` with the host's reason.
    package func send(_ request: AdminRequest) async throws -> AdminResponse {
        let response = try await exchange(request)
        guard let failure = response.error else { return response }
        let code: AdminError.Code = failure.code == .requestForbidden ? .notAllowed : .refused
        throw AdminError(code, failure.message, reason: failure.code)
    }

    private func exchange(_ request: AdminRequest) async throws -> AdminResponse {
        let connection: NIOAsyncChannel<ByteBuffer, ByteBuffer>
        do {
            connection = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .connect(unixDomainSocketPath: path) { channel in
                    channel.eventLoop.makeCompletedFuture {
                        try NIOAsyncChannel(wrappingChannelSynchronously: channel)
                    }
                }
        } catch let error as IOError where [EACCES, EPERM].contains(error.errnoCode) {
            throw AdminError(.notAllowed, "\(path) may not be used: it belongs to another user's host.")
        } catch {
            throw AdminError(.notRunning, "No host of yours runs on this machine: nothing listens at \(path).")
        }
        return try await connection.executeThenClose { inbound, outbound in
            try await outbound.write(AdminLines.write(request))
            var lines = AdminLines(limit: Self.maximumAnswerSize)
            for try await bytes in inbound {
                lines.append(bytes)
                guard let line = try lines.next() else { continue }
                guard let answer = try? CompanionJSON.decoder().decode(AdminResponse.self, from: Data(line)) else {
                    throw AdminError(.badAnswer, "The host's answer cannot be read: is it of another version?")
                }
                return answer
            }
            throw AdminError(.badAnswer, "The host ended before it answered.")
        }
    }
}
