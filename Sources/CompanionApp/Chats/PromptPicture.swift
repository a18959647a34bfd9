import CompanionClient
package import CompanionWire
import Desktop
import LocalState
import PairingAgent
import Providers
import QRCodec

extension AppEnvironment {
    /// Reads a picture that goes with a prompt. One that is too large for agents and services is made smaller.
    ///
    /// - Throws: `AppError` if the file cannot be read, is not a picture or cannot be made small enough.
    package func picture(_ path: String) async throws -> TurnImage {
        let limit = ImageLimits.default.maxFileBytes
        guard let bytes = try await fileContent(path, limit) else {
            throw ProviderError(.image, provider: nil, message: "The picture has more than \(limit) bytes.")
                .named(path)
        }
        return try await Self.image(bytes, named: path)
    }

    /// Reads pictures, as ``picture(_:)`` does.
    package func pictures(_ paths: [String]) async throws -> [TurnImage] {
        var images: [TurnImage] = []
        for path in paths { images.append(try await picture(path)) }
        return images
    }

    /// The picture in the desktop's clipboard.
    ///
    /// - Throws: `DesktopError` if there is none; `AppError` as for a file.
    package func pastedPicture() async throws -> TurnImage {
        guard case .picture(let bytes) = try await Clipboard(environment: variables).content() else {
            throw DesktopError(.empty, message: "the clipboard has no picture", remedy: "/image FILE")
        }
        return try await Self.image(bytes, named: "the clipboard")
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
