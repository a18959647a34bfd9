import CompanionApp
import CompanionClient
import CompanionWire
import Desktop
import LocalState
import PairingAgent
import Providers
import QRCodec
import Terminal

/// Pictures that go with a prompt.
enum PromptPicture {
    /// Reads a picture of a file. One that is too large for agents and services is made smaller.
    ///
    /// - Throws: ``NamedFileError`` if the file cannot be read, ``AppError`` if it is not a picture or cannot be made small
    ///   enough.
    static func read(_ path: String) async throws -> TurnImage {
        let limit = ImageLimits.default.maxFileBytes
        return try await image(path) {
            guard let bytes = try InputFile.read(path, limit: limit) else {
                throw ProviderError(.image, provider: nil, message: "The picture has more than \(limit) bytes.")
            }
            return bytes
        }
    }

    /// The picture in the desktop's clipboard, as ``read(_:)`` has that of a file.
    ///
    /// - Parameter environment: Names the desktop.
    /// - Throws: `DesktopError` if there is none; ``AppError`` as for a file.
    static func pasted(_ environment: [String: String]) async throws -> TurnImage {
        guard case .picture(let bytes) = try await Clipboard(environment: environment).content() else {
            throw DesktopError(.empty, message: "the clipboard has no picture", remedy: "/image FILE")
        }
        return try await image("the clipboard") { bytes }
    }

    /// - Parameters:
    ///   - name: The picture's place, for errors.
    ///   - bytes: Reads it. Blocks.
    private static func image(
        _ name: String,
        _ bytes: @escaping @Sendable () throws -> [UInt8]
    ) async throws -> TurnImage {
        do {
            return try await BlockingCall.run {
                let bytes = try bytes()
                guard bytes.count > PictureFile.sizeLimit else { return try PictureFile.image(bytes) }
                return try PictureFile.image(try SmallerPicture.jpeg(of: bytes, atMost: PictureFile.sizeLimit))
            }
        } catch let error as QRCodecError {
            throw AppError(
                .failed,
                "provider.image",
                "\(name): The picture has more than \(PictureFile.sizeLimit) bytes and cannot be made smaller: \(error.message)"
            )
        } catch let error as ProviderError {
            var failure = AppError(describing: error)
            failure.message = "\(name): \(failure.message)"
            throw failure
        }
    }

    static func read(_ paths: [String]) async throws -> [TurnImage] {
        var images: [TurnImage] = []
        for path in paths { images.append(try await read(path)) }
        return images
    }
}
