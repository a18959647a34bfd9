extension QRSymbol {
    /// The most pixels a side of a drawing.
    private static let maxSide = 32_768

    /// A PNG image, black on white, one bit a pixel.
    ///
    /// - Parameters:
    ///   - scale: Pixels a module, at least 1.
    ///   - quietZone: Light modules on each side, at least 0. The standard wants 4.
    /// - Throws: ``QRCodecError`` with the code `tooLarge` beyond 32,768 pixels a side, or `encoderFailed`, also
    ///   where what was drawn does not read back.
    package func png(scale: Int = usualScale, quietZone: Int = 4) throws(QRCodecError) -> [UInt8] {
        let scale = max(1, scale)
        let quiet = max(0, quietZone)
        guard scale <= Self.maxSide, quiet <= Self.maxSide, (size + 2 * quiet) * scale <= Self.maxSide else {
            throw QRCodecError(.tooLarge, "A drawing of more than \(Self.maxSide) pixels a side is of no use.")
        }
        let side = (size + 2 * quiet) * scale
        var writer = try BilevelPNGWriter(side: side)
        var blank = [UInt8](repeating: 0xFF, count: BilevelPNGWriter.rowBytes(side))
        blank[0] = 0
        writer.append(blank, times: quiet * scale)
        for y in 0..<size {
            var row = blank
            forEachDarkRun(row: y) { run in
                BilevelPNGWriter.blacken((run.lowerBound + quiet) * scale..<(run.upperBound + quiet) * scale, in: &row)
            }
            writer.append(row, times: scale)
        }
        writer.append(blank, times: quiet * scale)
        let file = writer.finish()
        try check(file, scale: scale, quietZone: quiet)
        return file
    }

    /// Reads what was drawn again, at the middle of each module.
    private func check(_ file: [UInt8], scale: Int, quietZone: Int) throws(QRCodecError) {
        let modules = size + 2 * quietZone
        var isDark = [Bool](repeating: false, count: modules * modules)
        let isWhole = BilevelPNGReader.read(file, side: modules * scale) { y, row in
            guard y % scale == scale / 2 else { return }
            for x in 0..<modules {
                let pixel = x * scale + scale / 2
                isDark[y / scale * modules + x] = row[1 + (pixel >> 3)] & 0x80 >> UInt8(pixel & 7) == 0
            }
        }
        guard isWhole else { throw QRProof.unreadable }
        try QRProof.check(self) { x, y in
            let (column, row) = (x + quietZone, y + quietZone)
            guard column >= 0, row >= 0, column < modules, row < modules else { return false }
            return isDark[row * modules + column]
        }
    }
}
