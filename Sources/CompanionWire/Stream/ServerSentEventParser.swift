/// One event of a `text/event-stream` (WHATWG HTML, section 9.2).
package struct ServerSentEvent: Sendable, Hashable {
    /// The bytes of the `data` lines, joined by line feeds.
    package var data: [UInt8]
    /// The `event` field; nil if the event has none.
    package var event: String?
    /// The last `id` field of the stream up to this event; nil before the first.
    package var id: String?
}

/// Why a stream could not be read on.
package struct StreamLimitError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The limit that was passed, in bytes.
    package let limit: Int

    package var description: String {
        "the host sent an event of more than \(limit) bytes"
    }
}

/// Splits the bytes of a `text/event-stream` into events, however they were cut on their way.
///
/// Lines end in LF, CR or CR LF. An event that no blank line ends is not delivered (the specification says so).
package struct ServerSentEventParser: Sendable {
    /// The most bytes that one event may have. Default: 4 MiB.
    package let maximumEventSize: Int

    private var line: [UInt8] = []
    private var data: [UInt8] = []
    private var hasData = false
    private var event: String?
    private var id: String?
    private var previousWasCR = false
    private var isFirstLine = true

    package init(maximumEventSize: Int = 4 << 20) {
        self.maximumEventSize = maximumEventSize
    }

    /// Takes bytes and returns the events that they complete.
    ///
    /// - Throws: ``StreamLimitError`` once an event is larger than ``maximumEventSize``.
    package mutating func feed(_ bytes: some Sequence<UInt8>) throws(StreamLimitError) -> [ServerSentEvent] {
        var events: [ServerSentEvent] = []
        for byte in bytes {
            switch byte {
            case UInt8(ascii: "\n") where previousWasCR:
                previousWasCR = false
            case UInt8(ascii: "\n"), UInt8(ascii: "\r"):
                previousWasCR = byte == UInt8(ascii: "\r")
                if let complete = endLine() { events.append(complete) }
            default:
                previousWasCR = false
                line.append(byte)
                guard line.count + data.count <= maximumEventSize else {
                    throw StreamLimitError(limit: maximumEventSize)
                }
            }
        }
        return events
    }

    private mutating func endLine() -> ServerSentEvent? {
        defer { line.removeAll(keepingCapacity: true) }
        if isFirstLine {
            isFirstLine = false
            if line.starts(with: [0xef, 0xbb, 0xbf]) { line.removeFirst(3) }
        }
        guard !line.isEmpty else { return endEvent() }
        let colon = line.firstIndex(of: UInt8(ascii: ":")) ?? line.endIndex
        var value = colon < line.endIndex ? line[(colon + 1)...] : []
        if value.first == UInt8(ascii: " ") { value = value.dropFirst() }
        switch String(decoding: line[..<colon], as: UTF8.self) {
        case "data":
            if hasData { data.append(UInt8(ascii: "\n")) }
            data.append(contentsOf: value)
            hasData = true
        case "event":
            event = String(decoding: value, as: UTF8.self)
        case "id" where !value.contains(0):
            id = String(decoding: value, as: UTF8.self)
        default:
            break  // Comments, `retry` and unknown fields.
        }
        return nil
    }

    private mutating func endEvent() -> ServerSentEvent? {
        defer {
            data = []
            hasData = false
            event = nil
        }
        return hasData ? ServerSentEvent(data: data, event: event, id: id) : nil
    }
}
