import CompanionWire

/// Text with styles and links, which is safe to write to a terminal.
///
/// A line feed in it is a line's end. It has no other control characters.
struct StyledText {
    private struct Run {
        var end: Int
        var style: TextStyle
        /// The index of the address; nil for text that is no link.
        var link: Int?
    }

    private(set) var bytes: [UInt8] = []
    private var runs: [Run] = []
    private var addresses: [[UInt8]] = []

    init() {}

    init(_ text: String, style: TextStyle = .plain) {
        append(text, style: style)
    }

    var isEmpty: Bool { bytes.isEmpty }

    mutating func reserveCapacity(_ count: Int) {
        bytes.reserveCapacity(count)
    }

    /// Removes everything, and keeps the memory for what is appended next.
    mutating func removeAll() {
        bytes.removeAll(keepingCapacity: true)
        runs.removeAll(keepingCapacity: true)
        addresses.removeAll(keepingCapacity: true)
    }

    var endsWithBlank: Bool { bytes.last == UInt8(ascii: " ") || bytes.last == UInt8(ascii: "\n") }

    /// - Parameter address: See ``LinkAddress``.
    /// - Returns: The number of the link.
    mutating func addLink(_ address: [UInt8]) -> Int {
        addresses.append(address)
        return addresses.count - 1
    }

    mutating func append(_ text: String, style: TextStyle = .plain, link: Int? = nil) {
        var text = text
        text.withUTF8 { append($0, style: style, link: link) }
    }

    mutating func append(_ byte: UInt8, style: TextStyle, link: Int? = nil) {
        bytes.append(byte)
        extend(style, link: link)
    }

    /// Appends text that has no control characters.
    mutating func append(_ text: some Collection<UInt8>, style: TextStyle, link: Int? = nil) {
        guard !text.isEmpty else { return }
        bytes += text
        extend(style, link: link)
    }

    /// Appends text of a peer. Entities can stand for any character: what is unsafe is replaced as
    /// ``TerminalText/line(_:)`` does it, and so are line ends.
    mutating func append(unsafe text: UnsafeBufferPointer<UInt8>, style: TextStyle, link: Int? = nil) {
        if text.allSatisfy({ $0 >= 0x20 && $0 < 0x7F }) { return append(text, style: style, link: link) }
        let text = String(decoding: text, as: UTF8.self)
        append(TerminalText.line(text), style: style, link: link)
    }

    /// Appends another text, with its styles and links.
    mutating func append(_ other: StyledText) {
        let (count, number) = (bytes.count, addresses.count)
        bytes += other.bytes
        addresses += other.addresses
        runs += other.runs.map { Run(end: $0.end + count, style: $0.style, link: $0.link.map { $0 + number }) }
    }

    private mutating func extend(_ style: TextStyle, link: Int?) {
        if let last = runs.last, last.style == style, last.link == link {
            runs[runs.count - 1].end = bytes.count
        } else {
            runs.append(Run(end: bytes.count, style: style, link: link))
        }
    }

    /// Appends a part of the text as it is written to a terminal. The styles end with it.
    ///
    /// - Parameter cursor: Where to begin to look for the part's first run: 0, or what the call before left there if
    ///   its part was an earlier one.
    func write(_ part: Range<Int>, to out: inout [UInt8], cursor: inout Int) {
        var place = part.lowerBound
        var style = TextStyle.plain
        var link: Int?
        while place < part.upperBound {
            while runs[cursor].end <= place { cursor += 1 }
            let run = runs[cursor]
            if run.link != link {
                if link != nil { LinkAddress.end(&out) }
                if let number = run.link { LinkAddress.begin(addresses[number], into: &out) }
                link = run.link
            }
            if run.style != style {
                style.end(&out)
                run.style.begin(&out)
                style = run.style
            }
            let end = min(run.end, part.upperBound)
            out += bytes[place..<end]
            place = end
        }
        style.end(&out)
        if link != nil { LinkAddress.end(&out) }
    }

    /// Makes links of the addresses of web pages and mailboxes that stand in the text outside code.
    mutating func linkAddresses() {
        var found: [(part: Range<Int>, link: Int)] = []
        var place = 0
        while found.count < Self.mostLinks,
            let next = bytes.withUnsafeBufferPointer({ PlainAddress.next(in: $0, from: place) })
        {
            place = next.part.upperBound
            if let address = LinkAddress.safe(next.scheme + bytes[next.part]) {
                found.append((next.part, addLink(address)))
            }
        }
        guard !found.isEmpty else { return }
        var (changed, begin, next) = ([Run](), 0, 0)
        for run in runs {
            while begin < run.end {
                while next < found.count, found[next].part.upperBound <= begin { next += 1 }
                var part = Run(end: run.end, style: run.style, link: run.link)
                if next < found.count, begin < found[next].part.lowerBound {
                    part.end = min(part.end, found[next].part.lowerBound)
                } else if next < found.count {
                    part.end = min(part.end, found[next].part.upperBound)
                    if part.link == nil, !part.style.has(.code) { part.link = found[next].link }
                }
                changed.append(part)
                begin = part.end
            }
        }
        runs = changed
    }

    /// The most addresses in one text that become links.
    private static let mostLinks = 1000
}
