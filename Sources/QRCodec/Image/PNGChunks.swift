/// The chunks of a PNG file (PNG specification, third edition, 5.3: length, type, data, checksum).
enum PNGChunks {
    private static let signatureBytes = 8
    /// Length, type and checksum.
    private static let frameBytes = 12

    /// The file without the chunks that say nothing about its shades.
    ///
    /// Texts, colour profiles and the like may unpack to any size and come in any number. What is not there need not
    /// be bounded, and a picture is not refused for the sake of its metadata.
    static func withoutMetadata(_ data: [UInt8]) -> [UInt8] {
        var kept: [UInt8] = []
        // Where the stretch begins that is to be copied next.
        var stretch = 0
        var position = signatureBytes
        while position + frameBytes <= data.count {
            let length = data[position..<position + 4].reduce(0) { $0 << 8 | Int($1) }
            let next = position + frameBytes + length
            // A chunk that is cut off, or lies about its length, is for the decoder to complain of.
            guard next <= data.count else { break }
            if isMetadata(data[position + 4..<position + 8]) {
                kept += data[stretch..<position]
                stretch = next
            }
            position = next
        }
        return stretch == 0 ? data : kept + data[stretch...]
    }

    /// Ancillary chunks have a small first letter; of these only transparency matters here.
    private static func isMetadata(_ type: ArraySlice<UInt8>) -> Bool {
        type.first.map { $0 & 0x20 != 0 } == true && !type.elementsEqual("tRNS".utf8)
    }
}
