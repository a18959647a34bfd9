import CompanionWire

/// A piece of a stream has more bytes than it may.
struct PieceTooLarge: Error {}

/// Cuts the bytes of a provider's stream into its pieces, however they were cut on their way.
struct ProviderFrames: Sendable {
    private var events: ServerSentEventParser
    private var line: [UInt8] = []
    private let framing: ProviderFraming
    private let limit: Int

    /// - Parameter limit: The most bytes of one piece. Default: 4 MiB.
    init(_ framing: ProviderFraming, limit: Int = 4 << 20) {
        self.framing = framing
        self.limit = limit
        events = ServerSentEventParser(maximumEventSize: limit)
    }

    /// - Throws: ``PieceTooLarge`` or `StreamLimitError`.
    mutating func feed(_ bytes: some Sequence<UInt8>) throws -> [[UInt8]] {
        switch framing {
        case .serverSentEvents: return try events.feed(bytes).map(\.data)
        case .lines:
            var lines: [[UInt8]] = []
            for byte in bytes {
                guard byte == UInt8(ascii: "\n") else {
                    line.append(byte)
                    guard line.count <= limit else { throw PieceTooLarge() }
                    continue
                }
                if line.last == UInt8(ascii: "\r") { line.removeLast() }
                if !line.isEmpty { lines.append(line) }
                line = []
            }
            return lines
        }
    }
}
