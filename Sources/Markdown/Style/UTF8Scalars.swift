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
