/// Finds the messages in what a relay sends, in pieces of any size.
package struct RelayMessageDecoder: Sendable {
    /// The address and port of the relay, for errors.
    private let relay: String
    private var buffer: [UInt8] = []
    /// The part of the buffer that was read already.
    private var start = 0

    package init(relay: String) {
        self.relay = relay
    }

    /// Adds bytes that came. All messages that are there should have been read before.
    package mutating func append(_ bytes: some Sequence<UInt8>) {
        // What is left is less than one message.
        buffer.removeFirst(start)
        start = 0
        buffer += bytes
    }

    /// Reads the next message.
    ///
    /// - Returns: nil where it is not there as a whole.
    /// - Throws: ``RelayError/Code/badMessage`` as soon as the bytes cannot become one: another magic number, an unknown
    ///   type, a length over 1 KiB, or one that is not that of its type. From then on it throws every time.
    package mutating func next() throws(RelayError) -> RelayMessage? {
        let rest = buffer[start...]
        guard zip(rest, RelayMessage.magic).allSatisfy({ $0 == $1 }) else {
            throw .badMessage(relay, it: "sent something else")
        }
        var header = XDRReader(rest.dropFirst(RelayMessage.magic.count))
        guard let type = header.readNumber() else { return nil }
        guard RelayMessage.types.contains(type) else {
            throw .badMessage(relay, it: "sent a message of the unknown type \(type)")
        }
        guard let length = header.readNumber() else { return nil }
        guard length <= UInt32(RelayMessage.longestBody) else {
            throw .badMessage(relay, it: "sent a message of \(length) bytes")
        }
        let end = start + RelayMessage.headerLength + Int(length)
        guard buffer.count >= end else { return nil }
        guard let message = RelayMessage(type: type, body: buffer[(start + RelayMessage.headerLength)..<end]) else {
            throw .badMessage(relay, it: "sent a message of type \(type) that cannot be read")
        }
        start = end
        return message
    }

    /// Takes out the bytes that no message was made of.
    package mutating func takeRest() -> [UInt8] {
        defer { (buffer, start) = ([], 0) }
        return Array(buffer[start...])
    }
}
