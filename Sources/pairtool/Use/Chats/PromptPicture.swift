import CompanionApp
import CompanionClient
import CompanionWire
import LocalState
import PairingAgent
import Providers
import QRCodec
import Terminal

/// Pictures that go with a prompt.
enum PromptPicture {
    /// Reads a picture. One that is too large for agents and services is made smaller.
    ///
    /// - Throws: ``NamedFileError`` if the file cannot be read, ``AppError`` if it is not a picture or cannot be made small
    ///   enough.
    static func read(_ path: String) async throws -> TurnImage {
        let limit = ImageLimits.default.maxFileBytes
        do {
            return try await BlockingCall.run {
                guard let bytes = try InputFile.read(path, limit: limit) else {
                    throw ProviderError(.image, provider: nil, message: "The picture has more than \(limit) bytes.")
                }
                guard bytes.count > PictureFile.sizeLimit else { return try PictureFile.image(bytes) }
                return try PictureFile.image(try SmallerPicture.jpeg(of: bytes, atMost: PictureFile.sizeLimit))
            }
        } catch let error as QRCodecError {
            throw AppError(
                .failed,
                "provider.image",
                "\(path): The picture has more than \(PictureFile.sizeLimit) bytes and cannot be made smaller: \(error.message)"
            )
        } catch let error as ProviderError {
            var failure = AppError(describing: error)
            failure.message = "\(path): \(failure.message)"
            throw failure
        }
    }

    static func read(_ paths: [String]) async throws -> [TurnImage] {
        var images: [TurnImage] = []
        for path in paths { images.append(try await read(path)) }
        return images
    }
}
