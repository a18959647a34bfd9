/// A picture that is sent with a prompt.
package struct TurnImage: Sendable, Hashable {
    /// The file of the picture, as it is.
    package var bytes: [UInt8]
    /// For example `image/png`.
    package var mediaType: String

    package init(bytes: [UInt8], mediaType: String) {
        self.bytes = bytes
        self.mediaType = mediaType
    }
}

extension TurnImage {
    /// The most bytes of a picture. As Base64 it has 5,000,000 then, the most that Anthropic takes.
    package static let mostBytes = 3_750_000
    /// Pictures of a prompt, and bytes of all of them.
    package static let mostPictures = 8
    package static let mostTotal = 11_000_000

    /// The types that agents and services of models take.
    private static let types: [PictureType: String] = [
        .png: "image/png", .jpeg: "image/jpeg", .gif: "image/gif", .webp: "image/webp",
    ]

    /// The picture of a file, known by its first bytes; nil for other files. It may be too large.
    package init?(file bytes: [UInt8]) {
        guard let type = PictureType(bytes).flatMap({ Self.types[$0] }) else { return nil }
        self.init(bytes: bytes, mediaType: type)
    }
}

/// The file format of a picture. It is read from the first bytes, because Macs send PNG and say JPEG (lumi,
/// screenshot).
package enum PictureType: String, Sendable, Hashable, Codable {
    case png, jpeg, heic, gif, webp, tiff

    /// The usual file name extension of the format, without the dot.
    package var fileExtension: String { self == .jpeg ? "jpg" : rawValue }

    /// Recognises a format by the first bytes of a file.
    ///
    /// - Returns: nil for bytes that begin like no known picture.
    package init?(_ bytes: [UInt8]) {
        func begins(_ magic: [UInt8], at start: Int = 0) -> Bool { bytes.dropFirst(start).starts(with: magic) }
        if begins([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]) {
            self = .png
        } else if begins([0xFF, 0xD8, 0xFF]) {
            self = .jpeg
        } else if begins(Array("GIF87a".utf8)) || begins(Array("GIF89a".utf8)) {
            self = .gif
        } else if begins(Array("RIFF".utf8)), begins(Array("WEBP".utf8), at: 8) {
            self = .webp
        } else if begins(Array("ftyphei".utf8), at: 4) || begins(Array("ftypmif1".utf8), at: 4) {
            self = .heic
        } else if begins([0x49, 0x49, 0x2A, 0]) || begins([0x4D, 0x4D, 0, 0x2A]) {
            self = .tiff
        } else {
            return nil
        }
    }
}
