import CHEIF
import PNGFiles
import Testing

/// A HEIC image made by libheif's own encoder, and what can be changed in it.
struct HEICFile {
    var width: Int
    var height: Int
    /// Of the luminance, which is all there is: 8 to 16.
    var bits = 8
    /// 0 to 100.
    var quality = 60
    /// The side of a square at the top left beyond which all is light; `nil` where there is none.
    var drawn: Int?

    func bytes(isDark: (Int, Int) -> Bool) throws -> [UInt8] {
        let context = heif_context_alloc()
        defer { heif_context_free(context) }
        let image = try image(isDark: isDark)
        defer { heif_image_release(image) }
        var encoder: OpaquePointer?
        try #require(
            heif_context_get_encoder_for_format(context, heif_compression_HEVC, &encoder).code == heif_error_Ok
        )
        defer { heif_encoder_release(encoder) }
        _ = heif_encoder_set_lossy_quality(encoder, Int32(quality))
        _ = heif_encoder_set_parameter_string(encoder, "preset", "ultrafast")
        try #require(heif_context_encode_image(context, image, encoder, nil, nil).code == heif_error_Ok)
        final class Output { var bytes: [UInt8] = [] }
        let output = Output()
        var writer = heif_writer()
        writer.writer_api_version = 1
        writer.write = { _, data, size, target in
            let output = Unmanaged<Output>.fromOpaque(target!).takeUnretainedValue()
            output.bytes += UnsafeRawBufferPointer(start: data, count: size)
            return heif_error(code: heif_error_Ok, subcode: heif_suberror_Unspecified, message: nil)
        }
        let written = heif_context_write(context, &writer, Unmanaged.passUnretained(output).toOpaque())
        try #require(written.code == heif_error_Ok)
        return output.bytes
    }

    private func image(isDark: (Int, Int) -> Bool) throws -> OpaquePointer {
        var image: OpaquePointer?
        let (columns, rows) = (Int32(width), Int32(height))
        try #require(
            heif_image_create(columns, rows, heif_colorspace_monochrome, heif_chroma_monochrome, &image).code
                == heif_error_Ok
        )
        try #require(heif_image_add_plane(image, heif_channel_Y, columns, rows, Int32(bits)).code == heif_error_Ok)
        var stride: Int32 = 0
        let plane = try #require(heif_image_get_plane(image, heif_channel_Y, &stride))
        let bytes = bits > 8 ? 2 : 1
        plane.update(repeating: bits > 8 ? 1 : 235, count: height * Int(stride))
        for y in 0..<min(drawn ?? height, height) {
            for x in 0..<min(drawn ?? width, width) {
                let shade = (isDark(x, y) ? 20 : 235) << (bits - 8)
                let place = plane + y * Int(stride) + x * bytes
                place[0] = UInt8(shade & 255)
                if bytes == 2 { place[1] = UInt8(shade >> 8) }
            }
        }
        return try #require(image)
    }

    /// The file with what its last picture of several is said to measure exchanged.
    static func claiming(_ width: Int, _ height: Int, in file: [UInt8]) throws -> [UInt8] {
        let place = try #require(file.indices.last { file[$0...].starts(with: "ispe".utf8) })
        return patched(file, place + 8, PNGWriter.bigEndian(UInt32(width)) + PNGWriter.bigEndian(UInt32(height)))
    }

    /// The file with the size of what its tiles are put together to exchanged; at most 65,535 a side.
    static func canvas(_ width: Int, _ height: Int, in file: [UInt8]) throws -> [UInt8] {
        let place = try #require(file.indices.first { file[$0...].starts(with: "idat".utf8) })
        return patched(file, place + 8, [width, height].flatMap { [UInt8($0 >> 8), UInt8($0 & 255)] })
    }

    private static func patched(_ file: [UInt8], _ place: Int, _ bytes: [UInt8]) -> [UInt8] {
        var file = file
        file.replaceSubrange(place..<place + bytes.count, with: bytes)
        return file
    }
}
