/// Decodes UTF-8 that arrives in pieces: the bytes of a character that a piece breaks off are carried over to the next
/// one, and invalid bytes become U+FFFD.
package struct UTF8StreamDecoder: Sendable {
    private var carried: [UInt8] = []

    package init() {}

    /// Decodes as much as is complete.
    package mutating func decode(_ bytes: some Sequence<UInt8>) -> String {
        carried += bytes
        let complete = carried.count - Self.openTail(of: carried)
        defer { carried.removeFirst(complete) }
        return String(decoding: carried[..<complete], as: UTF8.self)
    }

    /// Decodes the rest at the end, where an incomplete character becomes U+FFFD.
    package mutating func finish() -> String {
        defer { carried = [] }
        return String(decoding: carried, as: UTF8.self)
    }

    /// How many bytes at the end begin a character that is not complete yet: 0…3.
    private static func openTail(of bytes: [UInt8]) -> Int {
        for back in 1...3 where back <= bytes.count {
            let length =
                switch bytes[bytes.count - back] {
                case 0x80...0xbf: 0
                case 0xc2...0xdf: 2
                case 0xe0...0xef: 3
                case 0xf0...0xf4: 4
                default: 1
                }
            if length > back { return back }
            if length > 0 { return 0 }
        }
        return 0
    }
}
