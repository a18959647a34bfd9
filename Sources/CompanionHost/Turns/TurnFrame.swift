import CompanionWire
import NIOCore

/// One frame of a turn, numbered from 1. All streams share its bytes.
struct TurnFrame: Sendable {
    let number: Int
    /// An `id` line, the `data` line and a blank line.
    let bytes: ByteBuffer
    private let prefix: Int

    /// - Parameter data: The frame as v1 has it: a `data` line and a blank line.
    init(number: Int, data: ByteBuffer) {
        self.number = number
        var buffer = ByteBufferAllocator().buffer(capacity: data.readableBytes + 24)
        buffer.writeString("id: \(number)\n")
        prefix = buffer.readableBytes
        buffer.writeImmutableBuffer(data)
        bytes = buffer
    }

    init(number: Int, event: ContinueChatEvent) {
        self.init(number: number, data: ByteBuffer(string: ContinueChatFrame.encode(event)))
    }

    /// The frame without its number, as v1 has it.
    var data: ByteBuffer {
        bytes.getSlice(at: bytes.readerIndex + prefix, length: bytes.readableBytes - prefix) ?? bytes
    }
}
