import CompanionApp
import CompanionWire
import PairingAgent
import Terminal

extension TerminalContext {
    /// Reads the token from a file or standard input.
    ///
    /// - Parameter file: A path, or `-`.
    /// - Throws: ``AppError`` if the text is missing or cannot be a token.
    func token(in file: String) async throws -> String {
        guard let bytes = try await content(of: file, limit: 8 << 10) else {
            throw AppError(
                .usage,
                "pairing.code_format",
                "that is not a token: it is too long; nothing was sent"
            )
        }
        let text = String(decoding: bytes, as: UTF8.self).trimmingWhitespace()
        // The payload of the server's QR code is accepted too.
        let token = AICLIPayload(text)?.token ?? text
        guard AICLIPayload.isToken(token) else {
            throw AppError(.usage, "pairing.code_format", "that is not a token; nothing was sent")
        }
        return token
    }
}
