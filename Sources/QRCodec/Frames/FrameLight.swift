/// How bright a frame is.
package struct FrameLight: Sendable, Hashable {
    /// The shade that 5 % of the pixels are darker than: 0 is black, 255 white.
    package var dark: Int
    /// The shade that 5 % of the pixels are lighter than.
    package var light: Int

    init(dark: Int, light: Int) {
        (self.dark, self.light) = (dark, light)
    }

    /// Looks at every eighth pixel of every eighth row.
    init(_ image: QRImage) {
        var counts = [Int](repeating: 0, count: 256)
        var total = 0
        image.luminance.withUnsafeBufferPointer { pixels in
            for y in stride(from: 0, to: image.height, by: 8) {
                for x in stride(from: 0, to: image.width, by: 8) {
                    counts[Int(pixels[y * image.width + x])] += 1
                    total += 1
                }
            }
        }
        func shade(below share: Int) -> Int {
            var left = total * share / 100
            return counts.firstIndex {
                left -= $0
                return left < 0
            } ?? 255
        }
        self.init(dark: shade(below: 5), light: shade(below: 95))
    }
}
