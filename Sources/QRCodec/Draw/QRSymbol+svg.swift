extension QRSymbol {
    /// An SVG drawing: one path of dark runs on a white square.
    ///
    /// - Parameters:
    ///   - scale: Pixels a module at the natural size, 1 to 1,000.
    ///   - quietZone: Light modules on each side, 0 to 1,000.
    ///   - title: What it shows, for those who do not see it.
    /// - Throws: ``QRCodecError`` with the code `encoderFailed` where what was drawn does not read back.
    package func svg(
        scale: Int = usualScale,
        quietZone: Int = quietZone,
        title: String = "QR code"
    ) throws(QRCodecError) -> String {
        let quiet = Self.measure(quietZone: quietZone)
        let side = size + 2 * quiet
        let pixels = side * min(max(1, scale), 1_000)
        var path = ""
        for y in 0..<size {
            forEachDarkRun(row: y) { run in
                path += "M\(run.lowerBound + quiet) \(y + quiet)h\(run.count)v1h-\(run.count)z"
            }
        }
        let drawn = Self.modules(path: path)
        try QRReadBack.check(self) { drawn.contains(Point(x: $0 + quiet, y: $1 + quiet)) }
        return """
            <?xml version="1.0" encoding="UTF-8"?>
            <svg xmlns="http://www.w3.org/2000/svg" width="\(pixels)" height="\(pixels)" \
            viewBox="0 0 \(side) \(side)" shape-rendering="crispEdges" role="img">
            <title>\(Self.escaped(title))</title>
            <path fill="#fff" d="M0 0h\(side)v\(side)h-\(side)z"/>
            <path fill="#000" d="\(path)"/>
            </svg>

            """
    }

    /// Text as an element may hold it (XML 1.0, 2.4); control characters, which it may not hold at all, are left out.
    private static func escaped(_ text: String) -> String {
        var result = ""
        for scalar in text.unicodeScalars where scalar.value >= 0x20 && scalar.value & 0xFFFE != 0xFFFE {
            switch scalar {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }

    /// The modules that a path of dark runs covers.
    private static func modules(path: String) -> Set<Point> {
        var drawn: Set<Point> = []
        for run in path.split(separator: "M") {
            let numbers = run.split { !("0"..."9").contains($0) }.compactMap { Int($0) }
            guard numbers.count >= 3 else { continue }
            for x in numbers[0]..<numbers[0] + numbers[2] { drawn.insert(Point(x: x, y: numbers[1])) }
        }
        return drawn
    }

    /// A quiet zone within reason: what is outside of 0 to 1,000 modules is taken for the nearest of the two.
    static func measure(quietZone: Int) -> Int { min(max(0, quietZone), 1_000) }
}
