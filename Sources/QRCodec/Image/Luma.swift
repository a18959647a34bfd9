/// Shades of grey from colours.
enum Luma {
    /// The brightness of a colour by ITU-R BT.601, in 256ths, as JPEG's own luminance has it.
    @inline(__always)
    static func grey(red: UInt8, green: UInt8, blue: UInt8) -> UInt8 {
        UInt8(truncatingIfNeeded: (77 * UInt32(red) + 150 * UInt32(green) + 29 * UInt32(blue) + 128) >> 8)
    }

    /// A shade laid over white paper.
    @inline(__always)
    static func overWhite(_ grey: UInt8, alpha: UInt8) -> UInt8 {
        let sum = UInt32(grey) * UInt32(alpha) + 255 * (255 - UInt32(alpha))
        return UInt8(truncatingIfNeeded: (sum + 127) / 255)
    }
}
