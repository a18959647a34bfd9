/// Makes a clean drawing of a symbol from the shades of its modules.
struct ModuleReader {
    let layout: SymbolLayout
    private let shades: [Float]

    /// Modules on either side of one that it is compared with.
    private static let reach = 4
    /// Bits of a copy of the format information that may be wrong.
    private static let mostFormatErrors = 2

    /// - Parameter shades: Those of each module, row by row, dark ones lower.
    init(_ layout: SymbolLayout, shades: [Float]) {
        self.layout = layout
        self.shades = shades
    }

    /// The same symbol seen in a mirror: rows become columns.
    func mirrored() -> ModuleReader {
        let size = layout.size
        return ModuleReader(
            layout,
            shades: shades.indices.map { shades[$0 % size * size + $0 / size] }
        )
    }

    /// Whether each module is dark.
    ///
    /// - Parameter sharpening: How much of its neighbours' share in a module's shade, which blur gave it, is taken out.
    func modules(sharpening: Float) -> [Bool] {
        let size = layout.size
        var sharp = shades
        if sharpening > 0 {
            for y in 0..<size {
                for x in 0..<size {
                    let index = y * size + x
                    var (sum, count) = (Float(0), Float(0))
                    if x > 0 { (sum, count) = (sum + shades[index - 1], count + 1) }
                    if x < size - 1 { (sum, count) = (sum + shades[index + 1], count + 1) }
                    if y > 0 { (sum, count) = (sum + shades[index - size], count + 1) }
                    if y < size - 1 { (sum, count) = (sum + shades[index + size], count + 1) }
                    sharp[index] += sharpening * (shades[index] - sum / count)
                }
            }
        }
        let means = localMeans()
        return zip(sharp, means).map { $0 < $1 }
    }

    /// The mean shade around each module, by a table of sums.
    private func localMeans() -> [Float] {
        let (size, stride) = (layout.size, layout.size + 1)
        var sums = [Float](repeating: 0, count: stride * stride)
        for y in 0..<size {
            for x in 0..<size {
                sums[(y + 1) * stride + x + 1] =
                    shades[y * size + x] + sums[y * stride + x + 1] + sums[(y + 1) * stride + x] - sums[y * stride + x]
            }
        }
        var means: [Float] = []
        means.reserveCapacity(size * size)
        for y in 0..<size {
            let (top, bottom) = (max(0, y - Self.reach), min(size, y + Self.reach + 1))
            for x in 0..<size {
                let (left, right) = (max(0, x - Self.reach), min(size, x + Self.reach + 1))
                let sum =
                    sums[bottom * stride + right] - sums[top * stride + right] - sums[bottom * stride + left]
                    + sums[top * stride + left]
                means.append(sum / Float((bottom - top) * (right - left)))
            }
        }
        return means
    }

    /// The symbol drawn without faults in what is known of it; `nil` where the format information cannot be read.
    func drawing(of modules: [Bool]) -> QRImage? {
        let size = layout.size
        var modules = modules
        guard let format = format(of: modules) else { return nil }
        for index in modules.indices {
            switch layout.modules[index] {
            case .dark: modules[index] = true
            case .light: modules[index] = false
            case .data, .format: break
            }
        }
        for copy in 0...1 {
            for bit in 0..<15 {
                let (x, y) = layout.formatPlace(bit: bit, copy: copy)
                modules[y * size + x] = format >> bit & 1 == 1
            }
        }
        return QRImage(modules: size) { x, y in
            (0..<size).contains(x) && (0..<size).contains(y) && modules[y * size + x]
        }
    }

    /// The format information, of which there are two copies: either with hardly a fault, or both alike.
    private func format(of modules: [Bool]) -> UInt16? {
        let copies = (0...1).map { copy in
            var word: UInt16 = 0
            for bit in 0..<15 {
                let (x, y) = layout.formatPlace(bit: bit, copy: copy)
                if modules[y * layout.size + x] { word |= 1 << bit }
            }
            return SymbolFormat.nearest(word)
        }
        let best = copies[0].errors <= copies[1].errors ? copies[0] : copies[1]
        guard best.errors > Self.mostFormatErrors else { return best.word }
        return copies[0].word == copies[1].word && best.errors <= Self.mostFormatErrors + 1 ? best.word : nil
    }
}
