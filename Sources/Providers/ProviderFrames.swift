import CompanionWire

/// A piece of a stream has more bytes than it may.
struct PieceTooLarge: Error {}

/// A piece of a provider's stream.
struct ProviderPiece: Sendable, Hashable {
    /// nil for what is no JSON.
    var json: JSONValue?
    var bytes: [UInt8]
    /// Whether the stream itself calls it an error: `event: error`, or the field `error:` (llama.cpp).
    var isError = false
    /// Whether it came in an event; else it stood in the stream by itself.
    var isFramed = true

    /// The closing word of OpenAI's format, whatever blanks are around it.
    var isEnd: Bool {
        json == nil && String(decoding: bytes, as: UTF8.self).trimmingWhitespace().utf8.elementsEqual("[DONE]".utf8)
    }

    var isBlank: Bool { bytes.allSatisfy { $0 <= 0x20 } }

    /// Whether it begins like a piece of an answer: if it is no JSON then, a part of the answer is lost.
    var isBroken: Bool { json == nil && bytes.first { $0 > 0x20 } == UInt8(ascii: "{") }
}

/// Cuts the bytes of a provider's stream into its pieces, however they were cut on their way.
///
/// Servers do not keep to one framing: there are events (`data:`), one JSON object per line, JSON that fills a whole
/// body, and events without a blank line behind them. All of them are read, at any place.
struct ProviderFrames: Sendable {
    private let limit: Int
    private var line: [UInt8] = []
    private var previousWasCR = false
    private var isFirstLine = true
    /// The event that has begun.
    private var data: [UInt8] = []
    private var dataLines = 0
    private var isError = false
    /// Lines that belong to no event: JSON over several lines, a page, a sentence.
    private var rest: [UInt8] = []
    /// Whether they may be JSON; nil while they are blank.
    private var restOpens: Bool?

    /// - Parameter limit: The most bytes of one piece. Default: 4 MiB.
    init(limit: Int = 4 << 20) {
        self.limit = limit
    }

    /// - Throws: ``PieceTooLarge``.
    mutating func feed(_ bytes: some Sequence<UInt8>) throws(PieceTooLarge) -> [ProviderPiece] {
        var pieces: [ProviderPiece] = []
        for byte in bytes {
            switch byte {
            case UInt8(ascii: "\n") where previousWasCR: previousWasCR = false
            case UInt8(ascii: "\n"), UInt8(ascii: "\r"):
                previousWasCR = byte == UInt8(ascii: "\r")
                endLine(into: &pieces)
            default:
                previousWasCR = false
                line.append(byte)
                guard line.count + data.count + rest.count <= limit else { throw PieceTooLarge() }
            }
        }
        return pieces
    }

    /// Returns the rest at the end of the stream: a last event or line that was not ended. One that broke off is left
    /// out.
    mutating func finish() -> [ProviderPiece] {
        var pieces: [ProviderPiece] = []
        if !line.isEmpty { endLine(into: &pieces) }
        endEvent(into: &pieces)
        return pieces.filter { !$0.isBroken }
    }

    private mutating func endLine(into pieces: inout [ProviderPiece]) {
        defer { line.removeAll(keepingCapacity: true) }
        if isFirstLine {
            isFirstLine = false
            if line.starts(with: [0xEF, 0xBB, 0xBF]) { line.removeFirst(3) }
        }
        guard !line.isEmpty else { return endEvent(into: &pieces) }
        let colon = line.firstIndex(of: UInt8(ascii: ":")) ?? line.endIndex
        var value = colon < line.endIndex ? line[(colon + 1)...] : []
        if value.first == UInt8(ascii: " ") { value = value.dropFirst() }
        switch String(decoding: line[..<colon], as: UTF8.self) {
        case "data":
            // Some servers put no blank line between two events. Each is one line, then.
            if dataLines == 1, JSONValue(lenient: data) != nil { endEvent(into: &pieces) }
            if dataLines > 0 { data.append(UInt8(ascii: "\n")) }
            data += value
            dataLines += 1
        case "event": isError = value.elementsEqual("error".utf8)
        case "error":
            endEvent(into: &pieces)
            pieces.append(ProviderPiece(json: JSONValue(lenient: Array(value)), bytes: Array(value), isError: true))
        case "", "id", "retry": break
        default: takeUnframed(into: &pieces)
        }
    }

    /// Takes a line that is no field of an event.
    private mutating func takeUnframed(into pieces: inout [ProviderPiece]) {
        // A line of JSON that began on an earlier line may be JSON by itself, too.
        if restOpens != true, Self.opens(line) == true, let json = JSONValue(lenient: line) {
            endEvent(into: &pieces)
            pieces.append(ProviderPiece(json: json, bytes: line, isFramed: false))
        } else {
            restOpens = restOpens ?? Self.opens(line)
            rest += line
            rest.append(UInt8(ascii: "\n"))
        }
    }

    /// Whether a text may be an object or a list, or the beginning of one; nil for a blank one.
    private static func opens(_ text: [UInt8]) -> Bool? {
        guard let first = text.first(where: { $0 > 0x20 }) else { return nil }
        return first == UInt8(ascii: "{") || first == UInt8(ascii: "[")
    }

    private mutating func endEvent(into pieces: inout [ProviderPiece]) {
        if !rest.isEmpty {
            pieces.append(ProviderPiece(json: JSONValue(lenient: rest), bytes: rest, isFramed: false))
            rest = []
            restOpens = nil
        }
        if dataLines > 0 {
            pieces.append(ProviderPiece(json: JSONValue(lenient: data), bytes: data, isError: isError))
        }
        data = []
        dataLines = 0
        isError = false
    }
}
