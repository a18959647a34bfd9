import CompanionClient
package import CompanionWire
import Desktop
import LocalState
import PairingAgent
import Providers
import QRCodec

/// Pictures that go with a prompt.
package enum PromptPicture {
    /// Reads a picture of a file. One that is too large for agents and services is made smaller.
    ///
    /// - Throws: `AppError` if the file cannot be read, is not a picture or cannot be made small enough.
    package static func read(_ path: String, in environment: AppEnvironment) async throws -> TurnImage {
        let limit = ImageLimits.default.maxFileBytes
        guard let bytes = try await environment.fileContent(path, limit) else {
            throw ProviderError(.image, provider: nil, message: "The picture has more than \(limit) bytes.")
                .named(path)
        }
        return try await image(bytes, named: path)
    }

    /// Reads the pictures of several files.
    package static func read(_ paths: [String], in environment: AppEnvironment) async throws -> [TurnImage] {
        var images: [TurnImage] = []
        for path in paths { images.append(try await read(path, in: environment)) }
        return images
    }

    /// The picture in the desktop's clipboard.
    ///
    /// - Throws: `DesktopError` if there is none; `AppError` as for a file.
    package static func pasted(in environment: AppEnvironment) async throws -> TurnImage {
        guard case .picture(let bytes) = try await Clipboard(environment: environment.variables).content() else {
            throw DesktopError(.empty, message: "the clipboard has no picture", remedy: "/image FILE")
        }
        return try await image(bytes, named: "the clipboard")
    }

    /// - Parameter name: The picture's place, for errors.
    private static func image(_ bytes: [UInt8], named name: String) async throws -> TurnImage {
        do {
            return try await BlockingCall.run {
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
            throw error.named(name)
        }
    }
}

extension ProviderError {
    fileprivate func named(_ name: String) -> AppError {
        var failure = AppError(describing: self)
        failure.message = "\(name): \(failure.message)"
        return failure
    }
}
