/// How the codewords of a symbol are divided into blocks, each with its own error correction (ISO/IEC 18004, table 9).
struct SymbolBlocks: Sendable, Hashable {
    /// How many blocks there are. The last ones may have one data codeword more than the first.
    let count: Int
    /// Data codewords, of all blocks together.
    let dataCount: Int
    /// Error correction codewords of each block.
    let correctionCount: Int

    /// - Parameter total: Codewords that the symbol has room for.
    init(version: Int, _ level: QRErrorCorrection, total: Int) {
        // Beside its bytes, data in 8-bit mode have 4 bits of mode, 8 or 16 of length, and 4 to end with or of filling.
        dataCount = level.bytes(version: version) + (version < 10 ? 2 : 3)
        count = level.blockCounts[version - 1]
        correctionCount = (total - dataCount) / count
    }

    /// The data codewords of a block, counted from 0.
    func dataCount(ofBlock block: Int) -> Int {
        let longer = dataCount % count
        return dataCount / count + (block >= count - longer ? 1 : 0)
    }
}

extension QRErrorCorrection {
    /// The blocks in symbols of version 1 to 40 (ISO/IEC 18004, table 9).
    fileprivate var blockCounts: [Int] {
        switch self {
        case .low: Self.lowBlocks
        case .medium: Self.mediumBlocks
        case .quartile: Self.quartileBlocks
        case .high: Self.highBlocks
        }
    }

    private static let lowBlocks = [
        1, 1, 1, 1, 1, 2, 2, 2, 2, 4, 4, 4, 4, 4, 6, 6, 6, 6, 7, 8, 8, 9, 9, 10, 12, 12, 12, 13, 14, 15, 16, 17, 18, 19,
        19, 20, 21, 22, 24, 25,
    ]
    private static let mediumBlocks = [
        1, 1, 1, 2, 2, 4, 4, 4, 5, 5, 5, 8, 9, 9, 10, 10, 11, 13, 14, 16, 17, 17, 18, 20, 21, 23, 25, 26, 28, 29, 31,
        33, 35, 37, 38, 40, 43, 45, 47, 49,
    ]
    private static let quartileBlocks = [
        1, 1, 2, 2, 4, 4, 6, 6, 8, 8, 8, 10, 12, 16, 12, 17, 16, 18, 21, 20, 23, 23, 25, 27, 29, 34, 34, 35, 38, 40, 43,
        45, 48, 51, 53, 56, 59, 62, 65, 68,
    ]
    private static let highBlocks = [
        1, 1, 2, 4, 4, 4, 5, 6, 8, 8, 11, 11, 16, 16, 18, 16, 19, 21, 25, 25, 25, 34, 30, 32, 35, 37, 40, 42, 45, 48,
        51, 54, 57, 60, 63, 66, 70, 74, 77, 81,
    ]
}
