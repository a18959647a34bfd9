import CompanionWire
import Desktop
import QRCodec

/// A place where the picture of a code is.
enum CodePlace: Sendable, Hashable {
    /// A path, or `-` for standard input.
    case file(String)
    case screen
    case clipboard

    /// What was there when it was looked at.
    enum Content: Sendable, Hashable {
        /// An image file, or a payload as text in its place.
        case bytes([UInt8])
        case image(QRImage)
        case text([UInt8])

        /// All that the codes in it hold.
        ///
        /// - Throws: ``CommandError`` when it cannot be read or has no QR code at all.
        func codes(in place: String) async throws -> [QRContent] {
            switch self {
            case .bytes(let bytes): try await PairingPicture.contents(of: bytes, in: place)
            case .image(let image): try await PairingPicture.contents(of: image, in: place)
            case .text(let text): [QRContent(text)]
            }
        }
    }

    /// What it is called in messages and as `file` in JSON.
    var name: String {
        switch self {
        case .file(let path): path
        case .screen: "screen"
        case .clipboard: "clipboard"
        }
    }

    /// All that the codes there hold.
    ///
    /// - Throws: ``CommandError`` when it cannot be read or has no QR code at all; ``DesktopError``.
    func read(context: CommandContext) async throws -> [QRContent] {
        if case .file(let path) = self { return try await PairingPicture.read(path, context: context) }
        return try await look(context: context).codes(in: name)
    }

    /// Looks there without reading codes.
    ///
    /// - Throws: ``CommandError``, ``DesktopError``.
    func look(context: CommandContext) async throws -> Content {
        switch self {
        case .file(let path):
            return .bytes(try await PairingPicture.load(path, context: context))
        case .screen:
            switch try DesktopScreen(environment: context.environment) {
            case .x11(let display): return .image(try await BlockingCall.run { try XScreen.image(display: display) })
            case .portal: return .bytes(try await ScreenPortal(environment: context.environment).picture())
            }
        case .clipboard:
            switch try await Clipboard(environment: context.environment).content() {
            case .picture(let bytes): return .bytes(bytes)
            case .text(let text): return .text(text)
            }
        }
    }

    /// The one pairing code there.
    func symbol(context: CommandContext) async throws -> PairingSymbol {
        let place = if case .file(let path) = self { PairingPicture.name(path) } else { name }
        return try PairingPicture.symbol(of: try await read(context: context), in: place)
    }
}
