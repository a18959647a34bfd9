import FoundationEssentials
package import NIOCore

/// The frames of the protocol: a payload's length as four bytes, big-endian, then the payload (lumi, Transport).
package enum LumiFrameParser {
    /// The most bytes of a payload, both ways (lumi, Limits).
    package static let largestPayload = 8 << 20

    /// A frame that announces more than is taken.
    package struct Oversize: Error, Sendable, Hashable {
        /// Bytes, as announced.
        package let length: Int
    }

    /// Takes the next whole frame off the front of a buffer.
    ///
    /// - Returns: Its payload; nil where there is no whole frame yet: the buffer stays as it is.
    /// - Throws: ``Oversize`` as soon as the length is there, before anything is set aside for what it announces.
    package static func next(from buffer: inout ByteBuffer) throws(Oversize) -> ByteBuffer? {
        guard let length = buffer.getInteger(at: buffer.readerIndex, as: UInt32.self) else { return nil }
        guard length <= largestPayload else { throw Oversize(length: Int(length)) }
        return buffer.readLengthPrefixedSlice(as: UInt32.self)
    }

    /// One buffer with length and payload. One write mostly arrives in one piece, and older Macs lose frames that do not
    /// (lumi, Limits).
    static func frame(_ payload: Data) throws(Oversize) -> ByteBuffer {
        guard payload.count <= largestPayload else { throw Oversize(length: payload.count) }
        var buffer = ByteBuffer()
        buffer.reserveCapacity(4 + payload.count)
        buffer.writeInteger(UInt32(payload.count))
        buffer.writeBytes(payload)
        return buffer
    }
}

/// Cuts the bytes of a connection into payloads.
struct LumiFrameDecoder: ByteToMessageDecoder {
    typealias InboundOut = ByteBuffer

    mutating func decode(context: ChannelHandlerContext, buffer: inout ByteBuffer) throws -> DecodingState {
        guard let payload = try LumiFrameParser.next(from: &buffer) else { return .needMoreData }
        context.fireChannelRead(wrapInboundOut(payload))
        return .continue
    }
}
