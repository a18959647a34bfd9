package import CompanionWire

/// Pictures for providers, known by their first bytes and not by a name.
package enum PictureFile {
    /// The most bytes of a picture. As base64 it has 5,000,000 then, the most that Anthropic takes.
    package static let sizeLimit = 3_750_000

    /// - Throws: ``ProviderError/Code/image`` for what no provider takes.
    package static func image(_ bytes: [UInt8]) throws(ProviderError) -> TurnImage {
        guard bytes.count <= sizeLimit else {
            throw ProviderError(.image, provider: nil, message: "The picture has more than \(sizeLimit) bytes.")
        }
        guard let type = mediaType(of: bytes) else {
            throw ProviderError(.image, provider: nil, message: "The file is not a PNG, JPEG, GIF or WebP picture.")
        }
        return TurnImage(bytes: bytes, mediaType: type)
    }

    /// Checks that a provider takes a picture.
    package static func check(_ image: TurnImage, for provider: Provider) throws(ProviderError) {
        let known = try self.image(image.bytes)
        guard provider == .gemini, known.mediaType == "image/gif" else { return }
        throw ProviderError(.image, provider: provider, message: "Gemini does not accept GIF pictures.")
    }

    private static func mediaType(of bytes: [UInt8]) -> String? {
        switch PictureType(bytes) {
        case .png: "image/png"
        case .jpeg: "image/jpeg"
        case .gif: "image/gif"
        case .webp: "image/webp"
        case .heic, .tiff, nil: nil
        }
    }
}
