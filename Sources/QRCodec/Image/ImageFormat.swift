/// The format of an image file, told by its bytes and never by a name.
enum ImageFormat: Equatable {
    case png
    case jpeg
    case webp
    case heic
    /// Something else, named in the singular: "GIF image".
    case other(String)

    /// Names of what is told by nothing of its own.
    static let (unknownKind, textFile) = ("file of an unknown kind", "text file")

    init(_ data: [UInt8]) {
        if data.starts(with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]) {
            self = .png
        } else if data.starts(with: [0xFF, 0xD8, 0xFF]) {
            self = .jpeg
        } else if data.starts(with: "RIFF".utf8), data.dropFirst(8).starts(with: "WEBP".utf8) {
            self = .webp
        } else if data.dropFirst(4).starts(with: "ftyp".utf8), Self.isHEIC(data) {
            self = .heic
        } else {
            self = .other(Self.name(of: data))
        }
    }

    /// Whether one of the brands that an ISO base media file claims is that of HEIC images.
    private static func isHEIC(_ data: [UInt8]) -> Bool {
        let length = data.prefix(4).reduce(0) { $0 << 8 | Int($1) }
        let brands = data[8..<max(8, min(length, data.count, 256))]
        return stride(from: brands.startIndex, through: brands.endIndex - 4, by: 4).contains { place in
            ["heic", "heix", "heim", "heis"].contains { brands[place..<place + 4].elementsEqual($0.utf8) }
        }
    }

    /// First bytes that say enough on their own.
    private static let magics: [(bytes: [UInt8], name: String)] = [
        (Array("GIF".utf8), "GIF image"),
        (Array("%PDF".utf8), "PDF document"),
        (Array("%!PS".utf8), "PostScript document"),
        (Array("BM".utf8), "BMP image"),
        ([0x49, 0x49, 0x2A, 0x00], "TIFF image"),
        ([0x4D, 0x4D, 0x00, 0x2A], "TIFF image"),
        ([0x00, 0x00, 0x01, 0x00], "Windows icon"),
        (Array("8BPS".utf8), "Photoshop document"),
        (Array("gimp xcf".utf8), "GIMP document"),
        ([0xFF, 0x0A], "JPEG XL image"),
        ([0x00, 0x00, 0x00, 0x0C, 0x4A, 0x58, 0x4C, 0x20], "JPEG XL image"),
        ([0x00, 0x00, 0x00, 0x0C, 0x6A, 0x50, 0x20, 0x20], "JPEG 2000 image"),
        (Array("qoif".utf8), "QOI image"),
        ([0x89, 0x50, 0x4E, 0x47], "PNG image damaged by a text conversion"),
        ([0x50, 0x4B, 0x03, 0x04], "ZIP archive"),
        ([0x1F, 0x8B], "gzip archive"),
        ([0xFD, 0x37, 0x7A, 0x58, 0x5A, 0x00], "xz archive"),
        ([0x28, 0xB5, 0x2F, 0xFD], "Zstandard archive"),
        ([0x7F, 0x45, 0x4C, 0x46], "program"),
        ([0x1A, 0x45, 0xDF, 0xA3], "video"),
        (Array("#!".utf8), "script"),
    ]

    private static func name(of data: [UInt8]) -> String {
        if let known = magics.first(where: { data.starts(with: $0.bytes) }) { return known.name }
        if data.starts(with: "RIFF".utf8) { return "RIFF file" }
        if isPNM(data) { return "PNM image" }
        if data.dropFirst(4).starts(with: "ftyp".utf8) { return mediaName(brand: data.dropFirst(8).prefix(4)) }
        return textName(data) ?? unknownKind
    }

    /// Whether it begins like a portable anymap.
    private static func isPNM(_ data: [UInt8]) -> Bool {
        data.count > 2 && data[0] == UInt8(ascii: "P") && (UInt8(ascii: "1")...UInt8(ascii: "7")).contains(data[1])
            && [0x09, 0x0A, 0x0D, 0x20, UInt8(ascii: "#")].contains(data[2])
    }

    /// The kinds of ISO base media file, by their major brand.
    private static func mediaName(brand: ArraySlice<UInt8>) -> String {
        switch String(decoding: brand, as: UTF8.self) {
        case "heic", "heix", "heim", "heis", "mif1", "msf1": "HEIC image"
        case "avif", "avis": "AVIF image"
        default: "video"
        }
    }

    /// A name for text, or `nil` where the beginning has bytes that no text has.
    private static func textName(_ data: [UInt8]) -> String? {
        let start = data.prefix(512)
        guard start.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || (0x09...0x0D).contains($0) }) else { return nil }
        let text = String(decoding: start, as: UTF8.self).lowercased()
        let trimmed = text.drop(while: { $0.isWhitespace || $0 == "\u{FEFF}" })
        if text.contains("<svg") { return "SVG drawing" }
        if trimmed.hasPrefix("<!doctype html") || trimmed.hasPrefix("<html") { return "web page" }
        if trimmed.hasPrefix("<?xml") { return "XML file" }
        if trimmed.hasPrefix("{") || trimmed.hasPrefix("[") { return "JSON file" }
        // What is not UTF-8 is not called text; a cut may have fallen into a character.
        let incomplete = start.count < data.count ? 0...3 : 0...0
        guard incomplete.contains(where: { String(validating: start.dropLast($0), as: UTF8.self) != nil }) else {
            return nil
        }
        return textFile
    }
}
