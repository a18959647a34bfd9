import FoundationEssentials

/// Puts bytes together to lines.
package struct AdminLines: Sendable {
    private var bytes: [UInt8] = []
    /// How many of the bytes are known to end no line.
    private var searched = 0
    /// Bytes that a line may have.
    private let limit: Int

    package init(limit: Int) {
        self.limit = limit
    }

    /// A line has more bytes than it may.
    package struct TooLong: Error {}

    package mutating func append(_ more: some Sequence<UInt8>) {
        bytes += more
    }

    /// The next whole line, without its end; nil if there is none yet.
    package mutating func next() throws(TooLong) -> [UInt8]? {
        guard let end = bytes[searched...].firstIndex(of: UInt8(ascii: "\n")) else {
            guard bytes.count <= limit else { throw TooLong() }
            searched = bytes.count
            return nil
        }
        guard end <= limit else { throw TooLong() }
        let line = Array(bytes[..<end])
        bytes.removeSubrange(...end)
        searched = 0
        return line
    }

    /// A value as a line of JSON, with its end.
    package static func line(_ value: some Encodable) throws -> [UInt8] {
        Array(try CompanionJSON.encoder().encode(value)) + [UInt8(ascii: "\n")]
    }
}
