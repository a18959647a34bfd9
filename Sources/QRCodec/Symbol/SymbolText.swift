/// Reads a symbol to the letter of ISO/IEC 18004: one module that is not as it has to be makes it unreadable.
enum SymbolText {
    /// Light modules around a symbol that the standard wants.
    static let quietZone = 4

    /// What a symbol says, or nil where anything about it is wrong. Only bytes in 8-bit mode are known.
    ///
    /// - Parameters:
    ///   - version: 1 to 40.
    ///   - isDark: Whether a module is dark, by its column and row; also asked within four modules outside.
    static func read(version: Int, _ isDark: (Int, Int) -> Bool) -> [UInt8]? {
        let layout = SymbolLayout(version: version)
        guard isQuiet(around: layout.size, isDark), let format = format(layout, isDark) else { return nil }
        guard let words = codewords(layout, mask: format.mask, isDark) else { return nil }
        return data(words, SymbolBlocks(version: version, format.level, total: words.count)).flatMap {
            bytes($0, lengthBits: version < 10 ? 8 : 16)
        }
    }

    private static func isQuiet(around size: Int, _ isDark: (Int, Int) -> Bool) -> Bool {
        let (near, far) = (-quietZone, size + quietZone)
        for y in near..<far {
            let isBeside = y >= 0 && y < size
            for x in near..<(isBeside ? 0 : far) where isDark(x, y) { return false }
            for x in (isBeside ? size : far)..<far where isDark(x, y) { return false }
        }
        return true
    }

    /// The format information, where both copies are whole (7.9).
    private static func format(
        _ layout: SymbolLayout,
        _ isDark: (Int, Int) -> Bool
    ) -> (level: QRErrorCorrection, mask: Int)? {
        var copies: (UInt16, UInt16) = (0, 0)
        for bit in 0..<15 {
            let (first, second) = (layout.formatPlace(bit: bit, copy: 0), layout.formatPlace(bit: bit, copy: 1))
            if isDark(first.x, first.y) { copies.0 |= 1 << bit }
            if isDark(second.x, second.y) { copies.1 |= 1 << bit }
        }
        guard copies.0 == copies.1, let data = SymbolFormat.words.firstIndex(of: copies.0) else { return nil }
        let levels: [QRErrorCorrection] = [.medium, .low, .high, .quartile]
        return (levels[data >> 3], data & 7)
    }

    /// All codewords in the order in which they are drawn: two columns at a time from the right, up and down in turn
    /// (7.7.3). Nil where a module that is the same in all symbols of the version is not.
    private static func codewords(
        _ layout: SymbolLayout,
        mask: Int,
        _ isDark: (Int, Int) -> Bool
    ) -> [UInt8]? {
        let size = layout.size
        var words: [UInt8] = []
        words.reserveCapacity(size * size / 8)
        var (word, bits) = (UInt8(0), 0)
        var right = size - 1
        var goesUp = true
        while right > 0 {
            for step in 0..<size {
                let y = goesUp ? size - 1 - step : step
                for x in [right, right - 1] {
                    switch layout.modules[y * size + x] {
                    case .data:
                        word = word << 1 | (isDark(x, y) != isInverted(x, y, mask: mask) ? 1 : 0)
                        bits += 1
                        if bits == 8 {
                            words.append(word)
                            (word, bits) = (0, 0)
                        }
                    case .dark: guard isDark(x, y) else { return nil }
                    case .light: guard !isDark(x, y) else { return nil }
                    case .format: break
                    }
                }
            }
            // The column of the timing pattern is skipped: it has no data.
            right -= right == 8 ? 3 : 2
            goesUp.toggle()
        }
        for y in 0..<size {
            switch layout.modules[y * size + 6] {
            case .dark: guard isDark(6, y) else { return nil }
            case .light: guard !isDark(6, y) else { return nil }
            case .data, .format: break
            }
        }
        // The modules that are left belong to no codeword, and hold zeros (7.7.3).
        return word == 0 ? words : nil
    }

    /// Whether a mask turns a module of the data round (7.8.2).
    private static func isInverted(_ x: Int, _ y: Int, mask: Int) -> Bool {
        switch mask {
        case 0: (x + y) % 2 == 0
        case 1: y % 2 == 0
        case 2: x % 3 == 0
        case 3: (x + y) % 3 == 0
        case 4: (y / 2 + x / 3) % 2 == 0
        case 5: x * y % 2 + x * y % 3 == 0
        case 6: (x * y % 2 + x * y % 3) % 2 == 0
        default: ((x + y) % 2 + x * y % 3) % 2 == 0
        }
    }

    /// The data codewords, put in order again (7.6); nil where error correction would have anything to do.
    private static func data(_ words: [UInt8], _ blocks: SymbolBlocks) -> [UInt8]? {
        guard words.count == blocks.dataCount + blocks.count * blocks.correctionCount else { return nil }
        let code = ReedSolomon()
        let shortest = blocks.dataCount(ofBlock: 0)
        let firstLonger = (0..<blocks.count).first { blocks.dataCount(ofBlock: $0) > shortest } ?? blocks.count
        var data: [UInt8] = []
        data.reserveCapacity(blocks.dataCount)
        for index in 0..<blocks.count {
            let count = blocks.dataCount(ofBlock: index)
            var block: [UInt8] = []
            block.reserveCapacity(count + blocks.correctionCount)
            for place in 0..<count {
                // In the last place only the longer blocks have a codeword.
                block.append(words[place * blocks.count + index - (place == shortest ? firstLonger : 0)])
            }
            data += block
            for place in 0..<blocks.correctionCount {
                block.append(words[blocks.dataCount + place * blocks.count + index])
            }
            guard code.isFaultless(block, correctionCount: blocks.correctionCount) else { return nil }
        }
        return data
    }

    /// The bytes of all segments (7.4), nil where one of them is in another mode.
    private static func bytes(_ data: [UInt8], lengthBits: Int) -> [UInt8]? {
        var bits = BitReader(bytes: data)
        var bytes: [UInt8] = []
        while bits.count >= 4 {
            let mode = bits.take(4)
            if mode == 0 { break }
            guard mode == 0b0100, bits.count >= lengthBits else { return nil }
            let length = bits.take(lengthBits)
            guard bits.count >= length * 8 else { return nil }
            for _ in 0..<length { bytes.append(UInt8(bits.take(8))) }
        }
        return bytes
    }

    private struct BitReader {
        let bytes: [UInt8]
        private var place = 0

        init(bytes: [UInt8]) { self.bytes = bytes }

        /// Those that are left.
        var count: Int { bytes.count * 8 - place }

        mutating func take(_ count: Int) -> Int {
            var value = 0
            for _ in 0..<count {
                value = value << 1 | Int(bytes[place >> 3] >> (7 - place & 7) & 1)
                place += 1
            }
            return value
        }
    }
}
