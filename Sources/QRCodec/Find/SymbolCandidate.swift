/// Three finder patterns that look like those of one symbol, in pixels of the picture.
package struct SymbolCandidate: Sendable, Hashable {
    /// Half way between the outer two patterns: about the symbol's middle.
    package var x: Double
    package var y: Double
    /// The mean width of a module.
    package var module: Double
    /// Modules along a side, as far as the patterns tell.
    package var size: Double

    init(_ triple: FinderTriple, scale: Int) {
        let middle = (triple.right.centre + triple.below.centre) / 2 * Double(scale)
        (x, y) = (middle.x, middle.y)
        module = (triple.corner.module + triple.right.module + triple.below.module) / 3 * Double(scale)
        size = triple.distance + 7
    }

    package init(x: Double, y: Double, module: Double, size: Double) {
        (self.x, self.y, self.module, self.size) = (x, y, module, size)
    }
}
