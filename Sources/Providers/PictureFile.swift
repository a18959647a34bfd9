package import CompanionWire

/// Pictures for providers, known by their first bytes and not by a name.
package enum PictureFile {
    /// The most bytes of a picture.
    package static let sizeLimit = TurnImage.mostBytes

    /// - Throws: ``ProviderError/Code/image`` for what no provider takes.
    package static func image(_ bytes: [UInt8]) throws(ProviderError) -> TurnImage {
        guard bytes.count <= sizeLimit else {
            throw ProviderError(.image, provider: nil, message: "The picture has more than \(sizeLimit) bytes.")
        }
        guard let image = TurnImage(file: bytes) else {
            throw ProviderError(.image, provider: nil, message: "The file is not a PNG, JPEG, GIF or WebP picture.")
        }
        return image
    }

    /// Checks that a provider takes a picture.
    package static func check(_ image: TurnImage, for provider: Provider) throws(ProviderError) {
        let known = try self.image(image.bytes)
        guard provider == .gemini, known.mediaType == "image/gif" else { return }
        throw ProviderError(.image, provider: provider, message: "Gemini does not accept GIF pictures.")
    }
}
