import CompanionApp
import CompanionClient
import CompanionWire
import LocalState
import PairingAgent
import Providers
import Terminal

/// Pictures that go with a prompt.
enum PromptPicture {
    /// - Throws: ``NamedFileError`` if the file cannot be read, ``AppError`` if it is not a picture or is too large.
    static func read(_ path: String) async throws -> TurnImage {
        let limit = PictureFile.sizeLimit
        let bytes = try await BlockingCall.run { try InputFile.read(path, limit: limit) }
        do {
            guard let bytes else {
                throw ProviderError(.image, provider: nil, message: "The picture has more than \(limit) bytes.")
            }
            return try PictureFile.image(bytes)
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
