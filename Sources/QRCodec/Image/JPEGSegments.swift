/// The segments of a JPEG file (ITU-T T.81, annex B: marker, length, contents).
enum JPEGSegments {
    private static let (startOfScan, endOfImage): (UInt8, UInt8) = (0xDA, 0xD9)

    /// Whether the first scan is sequential and of all components, so that rows can be put out as they are read.
    ///
    /// A file that cannot be followed counts as the more expensive kind.
    static func isOneScan(_ data: [UInt8]) -> Bool {
        var position = 2
        var components: UInt8?
        while position + 4 < data.count {
            guard data[position] == 0xFF else { return false }
            let marker = data[position + 1]
            // Any number of these may stand before a marker.
            if marker == 0xFF {
                position += 1
                continue
            }
            let length = Int(data[position + 2]) << 8 | Int(data[position + 3])
            switch marker {
            case 0xC0, 0xC1:
                // Precision, height and width come before the number of components.
                guard position + 9 < data.count, components == nil else { return false }
                components = data[position + 9]
            case 0xC2, 0xC3, 0xC5...0xC7, 0xC9...0xCB, 0xCD...0xCF, endOfImage: return false
            case startOfScan: return components == data[position + 4]
            default: break
            }
            position += 2 + length
        }
        return false
    }
}
