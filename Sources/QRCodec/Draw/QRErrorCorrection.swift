/// How much of a symbol may be lost and still be read.
package enum QRErrorCorrection: String, CaseIterable, Sendable, Hashable {
    /// About 7 % of it.
    case low = "L"
    /// About 15 % of it.
    case medium = "M"
    /// About 25 % of it.
    case quartile = "Q"
    /// About 30 % of it.
    case high = "H"
}

extension QRErrorCorrection {
    /// The bytes that the largest symbol, version 40, holds in 8-bit mode.
    package var maxBytes: Int { capacities[39] }

    /// The smallest version that holds so many bytes in 8-bit mode; `nil` where none does.
    func version(holding count: Int) -> Int? {
        capacities.firstIndex { $0 >= count }.map { $0 + 1 }
    }

    /// The bytes that symbols of version 1 to 40 hold in 8-bit mode (ISO/IEC 18004, table 7).
    var capacities: [Int] {
        switch self {
        case .low: Self.lowCapacities
        case .medium: Self.mediumCapacities
        case .quartile: Self.quartileCapacities
        case .high: Self.highCapacities
        }
    }

    private static let lowCapacities = [
        17, 32, 53, 78, 106, 134, 154, 192, 230, 271, 321, 367, 425, 458, 520, 586, 644, 718, 792, 858, 929,
        1_003, 1_091, 1_171, 1_273, 1_367, 1_465, 1_528, 1_628, 1_732, 1_840, 1_952, 2_068, 2_188, 2_303, 2_431,
        2_563, 2_699, 2_809, 2_953,
    ]
    private static let mediumCapacities = [
        14, 26, 42, 62, 84, 106, 122, 152, 180, 213, 251, 287, 331, 362, 412, 450, 504, 560, 624, 666, 711, 779,
        857, 911, 997, 1_059, 1_125, 1_190, 1_264, 1_370, 1_452, 1_538, 1_628, 1_722, 1_809, 1_911, 1_989, 2_099,
        2_213, 2_331,
    ]
    private static let quartileCapacities = [
        11, 20, 32, 46, 60, 74, 86, 108, 130, 151, 177, 203, 241, 258, 292, 322, 364, 394, 442, 482, 509, 565,
        611, 661, 715, 751, 805, 868, 908, 982, 1_030, 1_112, 1_168, 1_228, 1_283, 1_351, 1_423, 1_499, 1_579,
        1_663,
    ]
    private static let highCapacities = [
        7, 14, 24, 34, 44, 58, 64, 84, 98, 119, 137, 155, 177, 194, 220, 250, 280, 310, 338, 382, 403, 439, 461,
        511, 535, 593, 625, 658, 698, 742, 790, 842, 898, 958, 983, 1_051, 1_093, 1_139, 1_219, 1_273,
    ]
}
