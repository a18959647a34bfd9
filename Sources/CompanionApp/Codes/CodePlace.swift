import CompanionWire
import Desktop
import LocalState
import PairingAgent
import QRCodec

/// A place to read a picture of a code from.
package enum CodePlace: Sendable, Hashable {
    /// A path, or `-` for standard input.
    case file(String)
    case screen
    case clipboard

    /// The content of the place at the time of reading.
    enum Content: Sendable, Hashable {
        /// An image file, or a payload as text instead of an image.
        case bytes([UInt8])
        case image(QRImage)
        case text([UInt8])

        /// The contents of all its QR codes.
        ///
        /// - Throws: ``AppError`` when it cannot be read or has no QR code.
        func codes(in place: String) async throws -> [FoundCode] {
            switch self {
            case .bytes(let bytes): try await PairingPicture.contents(of: bytes, in: place)
            case .image(let image): try await PairingPicture.contents(of: image, in: place)
            case .text(let text): [FoundCode(text)]
            }
        }
    }

    /// The name in messages, and the value of `file` in JSON.
    package var name: String {
        switch self {
        case .file(let path): path
        case .screen: "screen"
        case .clipboard: "clipboard"
        }
    }

    /// The contents of all QR codes there.
    ///
    /// - Throws: ``AppError`` when the place cannot be read or has no QR code; ``DesktopError``.
    package func read(environment: AppEnvironment) async throws -> [FoundCode] {
        if case .file(let path) = self { return try await PairingPicture.read(path, environment: environment) }
        return try await look(environment: environment).codes(in: name)
    }

    /// Gets the content without reading its codes.
    ///
    /// - Throws: ``AppError``, ``DesktopError``.
    func look(environment: AppEnvironment) async throws -> Content {
        switch self {
        case .file(let path):
            return .bytes(try await PairingPicture.load(path, environment: environment))
        case .screen:
            switch try DesktopScreen(environment: environment.variables) {
            case .x11(let display): return .image(try await BlockingCall.run { try XScreen.image(display: display) })
            case .portal: return .bytes(try await ScreenPortal(environment: environment.variables).picture())
            }
        case .clipboard:
            switch try await Clipboard(environment: environment.variables).content() {
            case .picture(let bytes): return .bytes(bytes)
            case .text(let text): return .text(text)
            }
        }
    }

    /// The one pairing code there.
    ///
    /// - Throws: ``AppError`` when there is none, or more than one; ``DesktopError``.
    package func symbol(environment: AppEnvironment) async throws -> PairingSymbol {
        let place = if case .file(let path) = self { PairingPicture.name(path) } else { name }
        return try PairingPicture.symbol(of: try await read(environment: environment), in: place)
    }
}
