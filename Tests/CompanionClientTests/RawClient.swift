import NIOCore
import NIOPosix

/// Sends bytes and returns what comes back up to the end of the first answer.
struct RawClient {
    let port: Int

    func send(_ request: String) async throws -> String {
        let channel = try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .connect(host: "127.0.0.1", port: port) { channel in
                channel.eventLoop.makeCompletedFuture {
                    try NIOAsyncChannel<ByteBuffer, ByteBuffer>(wrappingChannelSynchronously: channel)
                }
            }
        return try await channel.executeThenClose { inbound, outbound in
            try await outbound.write(ByteBuffer(string: request))
            var answer = ""
            for try await part in inbound {
                answer += String(buffer: part)
                let halves = answer.split(separator: "\r\n\r\n", maxSplits: 1, omittingEmptySubsequences: false)
                guard halves.count == 2 else { continue }
                let length = halves[0].split(separator: "\r\n").first { $0.hasPrefix("Content-Length: ") }
                let expected = length.flatMap { Int($0.dropFirst("Content-Length: ".count)) } ?? 0
                if halves[1].utf8.count >= expected { break }
            }
            return answer
        }
    }
}
