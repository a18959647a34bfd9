/// A picture at one size, with what is light and what is dark around each place.
///
/// Light is seldom even, so a pixel is dark or light by its surroundings: blocks of 8 × 8 pixels, each judged by the
/// 5 × 5 blocks around it (as ZXing's hybrid binariser does).
final class Level {
    /// Pixels along the side of a block.
    static let blockSide = 8
    /// Blocks on either side of one that count as its surroundings.
    private static let reach = 2
    /// Pixels along the side of what a pixel is judged by.
    static let surroundings = (2 * reach + 1) * blockSide
    /// Shades between the darkest and the lightest pixel, below which surroundings are one even surface.
    private static let leastContrast = 16

    let width: Int
    let height: Int
    /// How often the original was halved to make this; its pixels are `1 << halvings` wide there.
    let halvings: Int
    /// The shades, row by row.
    let grey: UnsafeMutablePointer<UInt8>
    /// For each block the shade between dark and light.
    private(set) lazy var middle: UnsafeMutablePointer<UInt8> = {
        makeBlocks()
        return madeMiddle
    }()
    /// For each block half the difference of dark and light; at least 1.
    private(set) lazy var contrast: UnsafeMutablePointer<UInt8> = {
        _ = middle
        return madeContrast
    }()
    /// 1 for each dark pixel, 0 for each light one.
    private(set) lazy var dark: UnsafeMutablePointer<UInt8> = makeDark()

    private let blocksAcross: Int
    private let blocksDown: Int
    private let madeMiddle: UnsafeMutablePointer<UInt8>
    private let madeContrast: UnsafeMutablePointer<UInt8>
    private let madeDark: UnsafeMutablePointer<UInt8>

    private init(width: Int, height: Int, halvings: Int) {
        self.width = width
        self.height = height
        self.halvings = halvings
        blocksAcross = (width + Self.blockSide - 1) / Self.blockSide
        blocksDown = (height + Self.blockSide - 1) / Self.blockSide
        // The slack is for loads of whole words at the very end.
        grey = .allocate(capacity: width * height + Self.blockSide)
        madeDark = .allocate(capacity: width * height + Self.blockSide)
        madeMiddle = .allocate(capacity: blocksAcross * blocksDown)
        madeContrast = .allocate(capacity: blocksAcross * blocksDown)
        (grey + width * height).initialize(repeating: 0, count: Self.blockSide)
    }

    convenience init(_ image: QRImage) {
        self.init(width: image.width, height: image.height, halvings: 0)
        image.luminance.withUnsafeBufferPointer { shades in
            guard let start = shades.baseAddress else { return }
            grey.update(from: start, count: shades.count)
        }
    }

    deinit {
        grey.deallocate()
        madeDark.deallocate()
        madeMiddle.deallocate()
        madeContrast.deallocate()
    }

    /// The same at half its size, each pixel the mean of four: takes noise, moiré and blocking out of a photograph.
    func halved() -> Level {
        let small = Level(width: width / 2, height: height / 2, halvings: halvings + 1)
        for y in 0..<small.height {
            let upper = UnsafeRawPointer(grey + 2 * y * width)
            let lower = upper + width
            let target = small.grey + y * small.width
            var x = 0
            while x + 16 <= small.width {
                let above = (upper + 2 * x).loadUnaligned(as: SIMD16<UInt16>.self)
                let below = (lower + 2 * x).loadUnaligned(as: SIMD16<UInt16>.self)
                let sum = (above & 0xFF) &+ (above &>> 8) &+ (below & 0xFF) &+ (below &>> 8)
                let mean = SIMD16<UInt8>(truncatingIfNeeded: (sum &+ 2) &>> 2)
                UnsafeMutableRawPointer(target + x).storeBytes(of: mean, as: SIMD16<UInt8>.self)
                x += 16
            }
            while x < small.width {
                let source = grey + 2 * y * width + 2 * x
                let sum = UInt16(source[0]) + UInt16(source[1]) + UInt16(source[width]) + UInt16(source[width + 1])
                target[x] = UInt8(truncatingIfNeeded: (sum + 2) >> 2)
                x += 1
            }
        }
        return small
    }

    /// The index of the block that a pixel is in.
    @inline(__always)
    func block(_ x: Int, _ y: Int) -> Int { (y >> 3) * blocksAcross + x >> 3 }
}

extension Level {
    private func makeBlocks() {
        let count = blocksAcross * blocksDown
        var (sums, least, most) = (
            [UInt32](repeating: 0, count: count), [UInt8](repeating: 255, count: count),
            [UInt8](repeating: 0, count: count)
        )
        let side = Self.blockSide
        for row in 0..<blocksDown {
            // The last row and column of blocks overlap those before, so that all blocks are whole.
            let top = max(0, min(row * side, height - side))
            let rows = min(side, height)
            for column in 0..<blocksAcross {
                let left = max(0, min(column * side, width - side))
                let index = row * blocksAcross + column
                if width >= side {
                    var low = SIMD8<UInt8>(repeating: 255)
                    var high = SIMD8<UInt8>.zero
                    var sum = SIMD8<UInt16>.zero
                    for y in top..<top + rows {
                        let pixels = UnsafeRawPointer(grey + y * width + left).loadUnaligned(as: SIMD8<UInt8>.self)
                        low = pointwiseMin(low, pixels)
                        high = pointwiseMax(high, pixels)
                        sum &+= SIMD8<UInt16>(truncatingIfNeeded: pixels)
                    }
                    least[index] = low.min()
                    most[index] = high.max()
                    sums[index] = UInt32(sum.wrappedSum()) / UInt32(rows * side / 8)
                } else {
                    var sum: UInt32 = 0
                    for y in top..<top + rows {
                        for x in 0..<width {
                            let shade = grey[y * width + x]
                            least[index] = min(least[index], shade)
                            most[index] = max(most[index], shade)
                            sum += UInt32(shade)
                        }
                    }
                    sums[index] = sum * 8 / UInt32(max(1, rows * width))
                }
            }
        }
        judge(sums: sums, least: least, most: most)
    }

    /// Sets the middle and the contrast of every block from what its surroundings are.
    ///
    /// - Parameter sums: Eight times the mean of each block.
    private func judge(sums: [UInt32], least: [UInt8], most: [UInt8]) {
        let (across, down) = (blocksAcross, blocksDown)
        // Columns first, then rows: what 25 blocks have in common is found with 10 looks.
        var (sumsOfRows, leastOfRows, mostOfRows) = (sums, least, most)
        for row in 0..<down {
            for column in 0..<across {
                let (start, end) = (max(0, column - Self.reach), min(across - 1, column + Self.reach))
                var (sum, low, high) = (UInt32(0), UInt8.max, UInt8.min)
                for index in row * across + start...row * across + end {
                    sum += sums[index]
                    low = min(low, least[index])
                    high = max(high, most[index])
                }
                let index = row * across + column
                sumsOfRows[index] = sum / UInt32(end - start + 1)
                (leastOfRows[index], mostOfRows[index]) = (low, high)
            }
        }
        for row in 0..<down {
            let (start, end) = (max(0, row - Self.reach), min(down - 1, row + Self.reach))
            for column in 0..<across {
                var (sum, low, high) = (UInt32(0), UInt8.max, UInt8.min)
                for above in start...end {
                    let index = above * across + column
                    sum += sumsOfRows[index]
                    low = min(low, leastOfRows[index])
                    high = max(high, mostOfRows[index])
                }
                let mean = Int(sum) / (8 * (end - start + 1))
                let index = row * across + column
                let difference = Int(high) - Int(low)
                // An even surface is light all over: no edges to follow there.
                let between = (mean + (Int(low) + Int(high)) / 2) / 2
                madeMiddle[index] = UInt8(difference < Self.leastContrast ? Int(low) : between)
                madeContrast[index] = UInt8(max(1, difference / 2))
            }
        }
    }

    private func makeDark() -> UnsafeMutablePointer<UInt8> {
        let middle = middle
        for y in 0..<height {
            let (source, target) = (grey + y * width, madeDark + y * width)
            let blocks = middle + (y >> 3) * blocksAcross
            for column in 0..<width / 8 {
                let threshold = blocks[column]
                let (from, to) = (source + 8 * column, target + 8 * column)
                for x in 0..<8 { to[x] = from[x] < threshold ? 1 : 0 }
            }
            for x in width & ~7..<width { target[x] = source[x] < blocks[x >> 3] ? 1 : 0 }
        }
        return madeDark
    }
}
