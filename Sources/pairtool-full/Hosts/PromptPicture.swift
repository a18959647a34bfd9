import CommandCore
import CompanionClient
import PairingAgent

/// Pictures that go with a prompt.
enum PromptPicture {
    /// - Throws: ``CommandError`` for a path without a file; `ProviderError` for a file that is no picture, or too large.
    static func read(_ path: String) throws -> TurnImage {
        guard let bytes = try PrivateFile.read(path, limit: PictureFile.sizeLimit + 1) else {
            throw CommandError(.usage, "image.missing", "there is no file \(path)")
        }
        return try PictureFile.image(bytes)
    }
}
