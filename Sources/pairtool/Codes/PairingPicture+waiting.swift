import CompanionWire
import QRCodec

/// The same without blocking the thread.
extension PairingPicture {
    static func read(_ file: String, context: CommandContext) async throws -> [QRContent] {
        try await BlockingCall.run { try read(file, context: context) }
    }

    static func contents(of bytes: [UInt8], in place: String) async throws -> [QRContent] {
        try await BlockingCall.run { try contents(of: bytes, in: place) }
    }

    static func contents(of image: QRImage, in place: String) async throws -> [QRContent] {
        try await BlockingCall.run { try contents(of: image, in: place) }
    }

    static func load(_ file: String, context: CommandContext) async throws -> [UInt8] {
        try await BlockingCall.run { try load(file, context: context) }
    }
}
