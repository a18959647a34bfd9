import NIOCore
import NIOWebSocket

/// Puts the frames of a WebSocket together to messages (RFC 6455, section 5.4).
struct WebSocketMessages: Sendable {
    /// What a frame means.
    enum Step: Sendable, Hashable {
        /// It ended a message, of text or of anything.
        case message(ByteBuffer)
        /// It wants to be answered with the same bytes.
        case ping(ByteBuffer)
        case close(ByteBuffer)
        /// The message has more bytes than it may. None of them is kept.
        case tooLarge
        /// A message goes on, or nothing is to be done.
        case nothing
    }

    private let limit: Int
    private var message = ByteBuffer()

    /// - Parameter limit: The most bytes of a message.
    init(limit: Int) {
        self.limit = limit
    }

    mutating func take(_ frame: WebSocketFrame) -> Step {
        var data = frame.unmaskedData
        switch frame.opcode {
        case .text, .binary, .continuation:
            guard message.readableBytes + data.readableBytes <= limit else {
                message = ByteBuffer()
                return .tooLarge
            }
            message.writeBuffer(&data)
            guard frame.fin else { return .nothing }
            defer { message = ByteBuffer() }
            return .message(message)
        case .ping: return .ping(data)
        case .connectionClose: return .close(data)
        default: return .nothing
        }
    }
}
