package import CompanionWire
import FoundationEssentials
import NIOCore
import NIOPosix

/// Asks the host that runs on this machine.
package struct AdminClient: Sendable {
    /// Bytes that an answer may have.
    static let maximumAnswerSize = 16 << 20

    private let path: String

    /// - Parameter path: The path of the host's socket.
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
            // A host that refuses its peer answers at once and closes, perhaps before the request is written.
            try? await outbound.write(ByteBuffer(bytes: AdminLines.line(request)))
            guard let line = try await Self.firstLine(of: inbound) else {
                throw AdminError(.badAnswer, "The host ended before it answered.")
            }
            guard let answer = try? CompanionJSON.decoder().decode(AdminResponse.self, from: Data(line)) else {
                throw AdminError.unreadable()
            }
            return answer
        }
    }

    /// - Returns: `nil` if the connection ends before the line does.
    private static func firstLine(of inbound: NIOAsyncChannelInboundStream<ByteBuffer>) async throws -> [UInt8]? {
        var lines = AdminLines(limit: maximumAnswerSize)
        var iterator = inbound.makeAsyncIterator()
        do {
            while let bytes = try await iterator.next() {
                lines.append(bytes.readableBytesView)
                if let line = try lines.next() { return line }
            }
        } catch is IOError {
            // A reset ends the connection as well.
        } catch is AdminLines.TooLong {
            throw AdminError(.badAnswer, "The host's answer is over \(maximumAnswerSize >> 20) MiB.")
        }
        return nil
    }
}

extension AdminError {
    /// The host answered something else than it was asked for.
    static func unreadable(file: String = #fileID, line: Int = #line) -> AdminError {
        AdminError(.badAnswer, "The host's answer cannot be read: it may be another version.", file: file, line: line)
    }
}
