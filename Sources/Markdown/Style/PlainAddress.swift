/// An address of a web page or a mailbox that stands in a text without markup, as in GFM
/// (https://github.github.com/gfm/#autolinks-extension-).
struct PlainAddress {
    /// The range of the address in the bytes of the text.
    var part: Range<Int>
    /// The scheme that has to be put before the address to make a link of it: `http://`, `mailto:`, or empty.
    var scheme: [UInt8] = []

    /// The first address at a place of a text or behind it. It does not begin within a word.
    static func next(in bytes: UnsafeBufferPointer<UInt8>, from start: Int) -> PlainAddress? {
        var place = start
        while place < bytes.count {
            let address: PlainAddress? =
                switch bytes[place] {
                case UInt8(ascii: "h"), UInt8(ascii: "H"): page(bytes, at: place)
                case UInt8(ascii: "w"), UInt8(ascii: "W"): page(bytes, at: place, beginning: "www.", scheme: "http://")
                case UInt8(ascii: "@"): mailbox(bytes, at: place, from: start)
                default: nil
                }
            if let address { return address }
            place += 1
        }
        return nil
    }

    private static func page(_ bytes: UnsafeBufferPointer<UInt8>, at place: Int) -> PlainAddress? {
        page(bytes, at: place, beginning: "http://") ?? page(bytes, at: place, beginning: "https://")
    }

    private static func page(
        _ bytes: UnsafeBufferPointer<UInt8>,
        at place: Int,
        beginning: StaticString,
        scheme: String = ""
    ) -> PlainAddress? {
        let count = beginning.utf8CodeUnitCount
        guard place + count < bytes.count, place == 0 || !isInWord(bytes[place - 1]) else { return nil }
        for index in 0..<count where bytes[place + index] != beginning.utf8Start[index] {
            // Letters in either case.
            guard isLetter(bytes[place + index]), bytes[place + index] | 0x20 == beginning.utf8Start[index] else {
                return nil
            }
        }
        var (end, open) = (place + count, 0)
        scan: while end < bytes.count {
            switch bytes[end] {
            case 0...0x20, UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "\""), UInt8(ascii: "`"): break scan
            case UInt8(ascii: "("): open += 1
            // The bracket around an address is not part of it.
            case UInt8(ascii: ")"):
                if open == 0 { break scan }
                open -= 1
            default: break
            }
            end += 1
        }
        while end > place + count, isPunctuation(bytes[end - 1]) { end -= 1 }
        return end > place + count ? PlainAddress(part: place..<end, scheme: Array(scheme.utf8)) : nil
    }

    /// - Parameters:
    ///   - at: The place of the sign between the name and the domain.
    ///   - start: Where the name begins at the earliest.
    private static func mailbox(_ bytes: UnsafeBufferPointer<UInt8>, at: Int, from start: Int) -> PlainAddress? {
        var begin = at
        while begin > start, isInName(bytes[begin - 1]) { begin -= 1 }
        while begin < at, !isWordByte(bytes[begin]) { begin += 1 }
        // What is behind a slash is part of another address.
        guard begin < at, begin == 0 || bytes[begin - 1] != UInt8(ascii: "/") && bytes[begin - 1] < 0x80 else {
            return nil
        }
        var (end, dots) = (at + 1, 0)
        while end < bytes.count, isWordByte(bytes[end]) || bytes[end] == UInt8(ascii: ".") || isJoint(bytes[end]) {
            if bytes[end] == UInt8(ascii: ".") {
                // Parts of a domain are not empty.
                guard end > at + 1, end + 1 < bytes.count, isWordByte(bytes[end + 1]) else { break }
                dots += 1
            }
            end += 1
        }
        guard dots > 0, isWordByte(bytes[end - 1]), end == bytes.count || bytes[end] != UInt8(ascii: "@") else {
            return nil
        }
        return PlainAddress(part: begin..<end, scheme: Array("mailto:".utf8))
    }

    /// Whether no address of a page begins behind a byte.
    private static func isInWord(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "/"), UInt8(ascii: "@"): true
        default: isWordByte(byte)
        }
    }

    private static func isInName(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: ".") || byte == UInt8(ascii: "+") || isJoint(byte) || isWordByte(byte)
    }

    private static func isJoint(_ byte: UInt8) -> Bool { byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_") }

    private static func isWordByte(_ byte: UInt8) -> Bool {
        isLetter(byte) || byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9")
    }

    private static func isLetter(_ byte: UInt8) -> Bool {
        byte | 0x20 >= UInt8(ascii: "a") && byte | 0x20 <= UInt8(ascii: "z")
    }

    private static func isPunctuation(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "."), UInt8(ascii: ","), UInt8(ascii: ":"), UInt8(ascii: ";"), UInt8(ascii: "!"),
            UInt8(ascii: "?"), UInt8(ascii: "*"), UInt8(ascii: "_"), UInt8(ascii: "~"), UInt8(ascii: "'"):
            true
        default: false
        }
    }
}
