import CZlib

/// Makes a PNG file of one bit a pixel, row by row: a header, one stream of packed rows, an end (RFC 2083).
///
/// zlib packs and sums up, which is all the work there is. A library around it takes longer to load than this takes.
struct BilevelPNGWriter: ~Copyable {
    // zlib's state points back to it: it has to stay where it is.
    private let stream: UnsafeMutablePointer<z_stream>
    private var file: [UInt8]
    private var packed: [UInt8] = []

    /// - Parameter side: Pixels along each side, at least 1.
    /// - Throws: ``QRCodecError`` with the code `encoderFailed`: there is not enough memory.
    init(side: Int) throws(QRCodecError) {
        stream = .allocate(capacity: 1)
        stream.initialize(to: z_stream())
        file = Self.beginning(side: side)
        // Equal rows after one another: the fastest level packs them as well as a slow one does. What is far enough to
        // reach back to the row before is window enough, and a small one is filled with zeros the sooner.
        let (window, memory): (Int32, Int32) = Self.rowBytes(side) < 2_048 ? (12, 5) : (15, 8)
        let size = Int32(MemoryLayout<z_stream>.size)
        let status = deflateInit2_(
            stream,
            Z_BEST_SPEED,
            Z_DEFLATED,
            window,
            memory,
            Z_DEFAULT_STRATEGY,
            ZLIB_VERSION,
            size
        )
        guard status == Z_OK else { throw QRCodecError(.encoderFailed, "There is not enough memory for a picture.") }
    }

    deinit {
        deflateEnd(stream)
        stream.deallocate()
    }

    /// Signature and header of a file.
    static func beginning(side: Int) -> [UInt8] {
        var bytes: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
        // One bit a pixel, shades of grey; packed, filtered and ordered as PNG always does or does by default.
        append("IHDR", bigEndian(side) + bigEndian(side) + [1, 0, 0, 0, 0], to: &bytes)
        return bytes
    }

    /// The last chunk of every file, which is empty.
    static var ending: [UInt8] {
        var bytes: [UInt8] = []
        append("IEND", [], to: &bytes)
        return bytes
    }

    /// The bytes of a row: one for its filter, and its pixels.
    static func rowBytes(_ side: Int) -> Int { 1 + (side + 7) / 8 }

    /// Makes pixels of a row black.
    static func blacken(_ pixels: Range<Int>, in row: inout [UInt8]) {
        var pixel = pixels.lowerBound
        while pixel < pixels.upperBound {
            // As many as are in one byte.
            let end = min(pixel | 7, pixels.upperBound - 1)
            row[1 + (pixel >> 3)] &= ~(0xFF >> UInt8(pixel & 7) & 0xFF << UInt8(7 - (end & 7)))
            pixel = end + 1
        }
    }

    /// Adds the next row from the top as often as told.
    ///
    /// - Parameter row: A zero, for no filter, and the pixels, the first in the highest bit, 1 for white.
    mutating func append(_ row: [UInt8], times: Int) {
        for _ in 0..<times { pack(row, Z_NO_FLUSH) }
    }

    /// The file, after the last row.
    consuming func finish() -> [UInt8] {
        pack([], Z_FINISH)
        Self.append("IDAT", packed, to: &file)
        return file + Self.ending
    }

    private mutating func pack(_ bytes: [UInt8], _ flush: Int32) {
        var bytes = bytes
        bytes.withUnsafeMutableBufferPointer { source in
            stream.pointee.next_in = source.baseAddress
            stream.pointee.avail_in = UInt32(source.count)
            repeat {
                withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 4_096) { room in
                    stream.pointee.next_out = room.baseAddress
                    stream.pointee.avail_out = UInt32(room.count)
                    deflate(stream, flush)
                    packed.append(contentsOf: room[..<(room.count - Int(stream.pointee.avail_out))])
                }
            } while stream.pointee.avail_out == 0
        }
    }

    /// A chunk: its length, its name, what it holds, a sum over the last two.
    private static func append(_ type: StaticString, _ content: [UInt8], to file: inout [UInt8]) {
        file += bigEndian(content.count)
        let start = file.count
        type.withUTF8Buffer { file.append(contentsOf: $0) }
        file += content
        let sum = file[start...].withUnsafeBufferPointer { crc32(0, $0.baseAddress, UInt32($0.count)) }
        file += bigEndian(Int(sum))
    }

    /// Four bytes, the highest first.
    static func bigEndian(_ number: Int) -> [UInt8] {
        [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: number >> $0) }
    }
}
