import CompanionWire
import FoundationEssentials
import NIOCore

/// Puts bytes together to lines.
struct AdminLines: Sendable {
    private var rest = ByteBuffer()
    /// Bytes that a line may have.
    let limit: Int

    init(limit: Int) {
        self.limit = limit
    }

    struct TooLong: Error {}

    mutating func append(_ bytes: ByteBuffer) {
        rest.writeImmutableBuffer(bytes)
    }

    /// The next whole line, without its end.
    mutating func next() throws(TooLong) -> [UInt8]? {
        guard let end = rest.readableBytesView.firstIndex(of: UInt8(ascii: "\n")) else {
            guard rest.readableBytes <= limit else { throw TooLong() }
            return nil
        }
        let count = end - rest.readerIndex
        guard count <= limit else { throw TooLong() }
        let line = rest.readBytes(length: count)
        rest.moveReaderIndex(forwardBy: 1)
        rest.discardReadBytes()
        return line
    }

    static func write(_ value: some Encodable) throws -> ByteBuffer {
        var buffer = ByteBuffer(bytes: try CompanionJSON.encoder().encode(value))
        buffer.writeStaticString("\n")
        return buffer
    }
}
