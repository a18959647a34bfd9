import CSpng

/// How libspng hands over the pixels of a row, and how they become shades of grey.
enum PNGLayout {
    case grey
    case rgb
    case rgba
    /// Indices of so many bits, packed as in the file, and the shade of each.
    ///
    /// Programs that draw QR codes write two-colour palettes, and this is several times as fast as by way of colours.
    case indexed(bits: Int, shades: [UInt8])

    /// A palette; indices that it lacks are white.
    static func indexed(bits: Int, palette: spng_plte, transparency: spng_trns?) -> PNGLayout {
        var shades = [UInt8](repeating: 255, count: 256)
        withUnsafeBytes(of: palette.entries) { entries in
            for (index, entry) in entries.bindMemory(to: spng_plte_entry.self).prefix(Int(palette.n_entries))
                .enumerated()
            {
                shades[index] = Luma.grey(red: entry.red, green: entry.green, blue: entry.blue)
            }
        }
        if let transparency {
            withUnsafeBytes(of: transparency.type3_alpha) { alphas in
                for (index, alpha) in alphas.prefix(Int(transparency.n_type3_entries)).enumerated() {
                    shades[index] = Luma.overWhite(shades[index], alpha: alpha)
                }
            }
        }
        return .indexed(bits: bits, shades: shades)
    }

    var format: spng_format {
        switch self {
        case .grey: SPNG_FMT_G8
        case .rgb: SPNG_FMT_RGB8
        case .rgba: SPNG_FMT_RGBA8
        case .indexed: SPNG_FMT_PNG
        }
    }

    /// The flags that libspng takes with the format.
    var flags: spng_decode_flags {
        if case .rgba = self { SPNG_DECODE_TRNS } else { spng_decode_flags(0) }
    }

    /// The bytes of a row buffer for so many pixels.
    func rowBytes(width: Int) -> Int {
        switch self {
        case .grey: width
        case .rgb: 3 * width
        case .rgba: 4 * width
        case .indexed(let bits, _): (width * bits + 7) / 8
        }
    }

    /// Puts the pixels of `row`, one after another, into every `step`th of `target`, beginning at `start`.
    func convert(
        _ row: UnsafeMutableBufferPointer<UInt8>,
        to target: UnsafeMutableBufferPointer<UInt8>,
        start: Int,
        step: Int
    ) {
        var (source, column) = (0, start)
        switch self {
        case .grey:
            while column < target.count {
                target[column] = row[source]
                (source, column) = (source + 1, column + step)
            }
        case .rgb:
            while column < target.count {
                target[column] = Luma.grey(red: row[source], green: row[source + 1], blue: row[source + 2])
                (source, column) = (source + 3, column + step)
            }
        case .rgba:
            while column < target.count {
                let grey = Luma.grey(red: row[source], green: row[source + 1], blue: row[source + 2])
                target[column] = Luma.overWhite(grey, alpha: row[source + 3])
                (source, column) = (source + 4, column + step)
            }
        case .indexed(let bits, let shades):
            let mask = UInt8(truncatingIfNeeded: (1 << bits) - 1)
            shades.withUnsafeBufferPointer { shades in
                if bits == 1, step == 1 {
                    // How programs draw QR codes: eight pixels at a time.
                    let (zero, difference) = (shades[0], shades[0] ^ shades[1])
                    while column + 8 <= target.count {
                        let byte = row[source]
                        for pixel in 0..<8 {
                            let isOne = byte >> UInt8(7 - pixel) & 1
                            target[column + pixel] = zero ^ (difference & (0 &- isOne))
                        }
                        (source, column) = (source + 1, column + 8)
                    }
                    source *= 8
                }
                // The position counts bits here; the leftmost pixel is in a byte's highest ones.
                while column < target.count {
                    let index = row[source >> 3] >> UInt8(8 - bits - (source & 7)) & mask
                    target[column] = shades[Int(index)]
                    (source, column) = (source + bits, column + step)
                }
            }
        }
    }
}
