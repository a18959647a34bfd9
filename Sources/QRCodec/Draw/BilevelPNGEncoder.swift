import CSpng
import Glibc

/// Makes a square PNG image of one bit a pixel with libspng, row by row.
struct BilevelPNGEncoder: ~Copyable {
    private let pointer: OpaquePointer

    /// - Throws: ``QRCodecError`` with the code `encoderFailed`.
    init() throws(QRCodecError) {
        guard let pointer = spng_ctx_new(Int32(SPNG_CTX_ENCODER.rawValue)) else {
            throw QRCodecError(.encoderFailed, message: "The PNG encoder could not be started.")
        }
        self.pointer = pointer
    }

    deinit { spng_ctx_free(pointer) }

    /// Writes the header.
    ///
    /// - Parameter side: Pixels along each side, at least 1.
    func begin(side: Int) throws(QRCodecError) {
        // Equal rows after one another: the fastest level packs them as well as a slow one does, without any filter.
        try Self.check(spng_set_option(pointer, SPNG_ENCODE_TO_BUFFER, 1))
        try Self.check(spng_set_option(pointer, SPNG_IMG_COMPRESSION_LEVEL, 1))
        try Self.check(spng_set_option(pointer, SPNG_FILTER_CHOICE, Int32(SPNG_DISABLE_FILTERING.rawValue)))
        var header = spng_ihdr()
        header.width = UInt32(side)
        header.height = UInt32(side)
        header.bit_depth = 1
        header.color_type = UInt8(SPNG_COLOR_TYPE_GRAYSCALE.rawValue)
        try Self.check(spng_set_ihdr(pointer, &header))
        let flags = SPNG_ENCODE_PROGRESSIVE.rawValue | SPNG_ENCODE_FINALIZE.rawValue
        try Self.check(spng_encode_image(pointer, nil, 0, Int32(SPNG_FMT_PNG.rawValue), Int32(flags)))
    }

    /// The bytes of a row.
    static func rowBytes(_ side: Int) -> Int { (side + 7) / 8 }

    /// Makes pixels of a row black.
    static func blacken(_ pixels: Range<Int>, in row: inout [UInt8]) {
        for pixel in pixels { row[pixel >> 3] &= ~(0x80 >> UInt8(pixel & 7)) }
    }

    /// Adds the next row from the top as often as told.
    ///
    /// - Parameter row: The pixels, the first in the highest bit, 1 for white.
    func append(_ row: [UInt8], times: Int) throws(QRCodecError) {
        for _ in 0..<times {
            let status = spng_encode_row(pointer, row, row.count)
            // The last row is answered with "end of image".
            if status != Int32(SPNG_EOI.rawValue) { try Self.check(status) }
        }
    }

    /// The file, after the last row.
    func finish() throws(QRCodecError) -> [UInt8] {
        var (length, status) = (0, Int32(0))
        guard let buffer = spng_get_png_buffer(pointer, &length, &status) else {
            try Self.check(status)
            throw QRCodecError(.encoderFailed, message: "The PNG image could not be made.")
        }
        defer { free(buffer) }
        return Array(UnsafeRawBufferPointer(start: buffer, count: length))
    }

    private static func check(_ status: Int32) throws(QRCodecError) {
        guard status == 0 else {
            let reason = String(cString: spng_strerror(status))
            throw QRCodecError(.encoderFailed, message: "The PNG image could not be made: \(reason).")
        }
    }
}
