import CompanionWire

/// Breaks text into rows of a width.
struct Wrapping {
    /// A row: what is on it, without the blanks at its end, and its width in columns.
    struct Row {
        var part: Range<Int>
        var width: Int
    }

    let width: Int
    /// Whether rows end between words where they can. Otherwise they end where they are full, as code does.
    var atWords = true

    /// Calls a body for each row of a text. A word that is wider than a row is broken.
    func rows(of bytes: [UInt8], _ body: (Row) -> Void) {
        bytes.withUnsafeBufferPointer { rows(of: $0, body) }
    }

    private func rows(of bytes: UnsafeBufferPointer<UInt8>, _ body: (Row) -> Void) {
        var cells = Cells(bytes)
        var row = Row(part: 0..<0, width: 0)
        var begin = 0
        // Where the row can end, where the next one begins then, and the widths up to both.
        var ending: (end: Int, next: Int, width: Int, nextWidth: Int)?
        var column = 0
        var wasWide = false
        var isContinued = false
        while let cell = cells.next() {
            switch bytes[cell.place] {
            case UInt8(ascii: "\n"):
                row = trimmed(begin..<cell.place, width: column, in: bytes)
                body(row)
                (begin, column, ending, wasWide, isContinued) = (cell.end, 0, nil, false, false)
                continue
            // A blank with a mark on it is no blank.
            case UInt8(ascii: " ") where atWords && cell.end == cell.place + 1:
                if isContinued, begin == cell.place {
                    begin = cell.end
                    continue
                }
                if let last = ending, last.next == cell.place {
                    ending = (last.end, cell.end, last.width, column + 1)
                } else {
                    ending = (cell.place, cell.end, column, column + 1)
                }
                column += 1
                wasWide = false
                continue
            default: break
            }
            let isWide = cell.width == 2
            if atWords, isWide || wasWide, cell.place > begin, ending?.next != cell.place {
                ending = (cell.place, cell.place, column, column)
            }
            if column + cell.width > width, let place = ending, atWords {
                // Blanks at the beginning of the text are no row of their own.
                if place.end > begin { body(Row(part: begin..<place.end, width: place.width)) }
                (begin, column, ending, isContinued) = (place.next, column - place.nextWidth, nil, true)
            }
            if column + cell.width > width, cell.place > begin {
                body(Row(part: begin..<cell.place, width: column))
                (begin, column, ending, isContinued) = (cell.place, 0, nil, true)
            }
            column += cell.width
            wasWide = isWide
        }
        if begin < bytes.count || bytes.isEmpty { body(trimmed(begin..<bytes.count, width: column, in: bytes)) }
    }

    private func trimmed(_ part: Range<Int>, width: Int, in bytes: UnsafeBufferPointer<UInt8>) -> Row {
        guard atWords else { return Row(part: part, width: width) }
        var end = part.upperBound
        while end > part.lowerBound, bytes[end - 1] == UInt8(ascii: " ") { end -= 1 }
        return Row(part: part.lowerBound..<end, width: width - (part.upperBound - end))
    }

    /// The width of the longest line of a text, and of its longest word, in columns.
    static func extent(of bytes: [UInt8]) -> (line: Int, word: Int) {
        bytes.withUnsafeBufferPointer { extent(of: $0) }
    }

    private static func extent(of bytes: UnsafeBufferPointer<UInt8>) -> (line: Int, word: Int) {
        var cells = Cells(bytes)
        var (line, word, longestLine, longestWord) = (0, 0, 0, 0)
        while let cell = cells.next() {
            switch bytes[cell.place] {
            case UInt8(ascii: "\n"): (line, word) = (0, 0)
            case UInt8(ascii: " "):
                line += cell.width
                word = 0
            default:
                line += cell.width
                word += cell.width
            }
            (longestLine, longestWord) = (max(longestLine, line), max(longestWord, word))
        }
        return (longestLine, longestWord)
    }
}

/// The characters of a text as a reader sees them, one after another, with their widths in columns.
private struct Cells {
    struct Cell {
        var place: Int
        var end: Int
        var width: Int
    }

    private let bytes: UnsafeBufferPointer<UInt8>
    private var place = 0
    /// The next characters of a stretch whose scalars may combine, the last one first.
    private var stretch: [(length: Int, width: Int)] = []

    init(_ bytes: UnsafeBufferPointer<UInt8>) {
        self.bytes = bytes
    }

    mutating func next() -> Cell? {
        guard place < bytes.count else { return nil }
        if stretch.isEmpty {
            if bytes[place] < 0x80, place + 1 == bytes.count || bytes[place + 1] < 0x80 {
                place += 1
                return Cell(place: place - 1, end: place, width: 1)
            }
            if let (length, width) = simple(place), place + length == bytes.count || simple(place + length) != nil {
                place += length
                return Cell(place: place - length, end: place, width: width)
            }
            readStretch()
        }
        let (length, width) = stretch.removeLast()
        defer { place += length }
        return Cell(place: place, end: place + length, width: width)
    }

    /// Reads up to two simple characters in a row, the second of which cannot combine with what is before it.
    private mutating func readStretch() {
        var end = place + bytes.scalarLength(at: place)
        while end < bytes.count {
            let next = end + bytes.scalarLength(at: end)
            if simple(end) != nil, next >= bytes.count || simple(next) != nil { break }
            end = next
        }
        let text = String(decoding: bytes[place..<min(end, bytes.count)], as: UTF8.self)
        for character in text { stretch.append((character.utf8.count, DisplayWidth.of(character))) }
        stretch.reverse()
    }

    /// The length and the width of a scalar that is a character by itself.
    private func simple(_ place: Int) -> (length: Int, width: Int)? {
        if bytes[place] < 0x80 { return (1, 1) }
        let (scalar, length) = bytes.scalar(at: place)
        return DisplayWidth.ofSimple(scalar).map { (length, $0) }
    }
}

extension UnsafeBufferPointer<UInt8> {
    /// The scalar at a place of valid UTF-8, and its length in bytes.
    func scalar(at place: Int) -> (scalar: Unicode.Scalar, length: Int) {
        let lead = UInt32(self[place])
        func next(_ offset: Int) -> UInt32 { UInt32(self[place + offset] & 0x3F) }
        let length = scalarLength(at: place)
        guard place + length <= count else { return ("\u{FFFD}", count - place) }
        let value: UInt32 =
            switch length {
            case 1: lead
            case 2: (lead & 31) << 6 | next(1)
            case 3: (lead & 15) << 12 | next(1) << 6 | next(2)
            default: (lead & 7) << 18 | next(1) << 12 | next(2) << 6 | next(3)
            }
        return (Unicode.Scalar(value) ?? "\u{FFFD}", length)
    }

    /// How many bytes the scalar at a place of valid UTF-8 has.
    func scalarLength(at place: Int) -> Int {
        switch self[place] {
        case ..<0x80: 1
        case ..<0xE0: 2
        case ..<0xF0: 3
        default: 4
        }
    }
}
