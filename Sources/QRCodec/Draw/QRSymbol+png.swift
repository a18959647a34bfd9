extension QRSymbol {
    /// The most pixels a side of a drawing.
    private static let maxSide = 16_384

    /// A PNG image, black on white, one bit a pixel.
    ///
    /// - Parameters:
    ///   - scale: Pixels a module, at least 1.
    ///   - quietZone: Light modules on each side, at least 0.
    /// - Throws: ``QRCodecError`` with the code `tooLarge` beyond 16,384 pixels a side, or `encoderFailed`, also
    ///   where what was drawn does not read back.
    package func png(scale: Int = usualScale, quietZone: Int = quietZone) throws(QRCodecError) -> [UInt8] {
        let scale = max(1, scale)
        let quiet = max(0, quietZone)
        guard scale <= Self.maxSide, quiet <= Self.maxSide, (size + 2 * quiet) * scale <= Self.maxSide else {
            throw QRCodecError(.tooLarge, message: "A drawing of more than \(Self.maxSide) pixels a side is of no use.")
        }
        let side = (size + 2 * quiet) * scale
        let encoder = try BilevelPNGEncoder()
        try encoder.begin(side: side)
        let blank = [UInt8](repeating: 0xFF, count: BilevelPNGEncoder.rowBytes(side))
        try encoder.append(blank, times: quiet * scale)
        for y in 0..<size {
            var row = blank
            forEachDarkRun(row: y) { run in
                BilevelPNGEncoder.blacken((run.lowerBound + quiet) * scale..<(run.upperBound + quiet) * scale, in: &row)
            }
            try encoder.append(row, times: scale)
        }
        try encoder.append(blank, times: quiet * scale)
        let file = try encoder.finish()
        try check(file, scale: scale, quietZone: quiet)
        return file
    }

    /// Reads what was drawn again, at the middle of each module.
    func check(_ file: [UInt8], scale: Int, quietZone: Int) throws(QRCodecError) {
        // However large it is: it is our own.
        let limits = ImageLimits(maxFileBytes: .max, maxPixels: .max, maxWorkingBytes: .max)
        let drawn = try PNGDecoder.decode(file, limits: limits)
        if let damage = drawn.damage { throw damage }
        let image = drawn.image
        try QRReadBack.check(self) { x, y in
            let (column, row) = ((x + quietZone) * scale + scale / 2, (y + quietZone) * scale + scale / 2)
            guard (0..<image.width).contains(column), (0..<image.height).contains(row) else { return false }
            return image.luminance[row * image.width + column] < 128
        }
    }
}
