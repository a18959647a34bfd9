import CompanionWire
import PairingAgent
import QRCodec

/// Reads QR codes from a picture in a file or on standard input.
enum PairingPicture {
    /// All that the picture's codes hold.
    ///
    /// - Parameter file: A path, or `-` for standard input. A file with the payload itself as text will do too.
    /// - Throws: ``CommandError`` when it cannot be read or has no QR code at all.
    static func read(_ file: String, context: CommandContext) async throws -> [QRContent] {
        let bytes = try await load(file, context: context)
        if let content = payloadText(bytes) { return [content] }
        let symbols: [ScannedSymbol]
        do {
            symbols = try await BlockingCall.run {
                try QRScanner.scan(bytes) { PairingSymbol(QRContent($0)) != nil }
            }
        } catch let error as QRCodecError {
            throw CommandError(.failed, "image.\(error.code)", "\(name(file)): \(error.message)", next: hint(error))
        }
        guard !symbols.isEmpty else {
            throw CommandError(
                .nothingFound,
                "scan.no_code",
                "\(name(file)): no QR code was found in the picture",
                next: "take it closer, sharper and with even light, or type the six digits: pairtool pair"
            )
        }
        return symbols.map { QRContent($0.bytes) }
    }

    /// The one pairing code of the picture.
    static func symbol(_ file: String, context: CommandContext) async throws -> PairingSymbol {
        try symbol(of: await read(file, context: context), in: file)
    }

    /// The one pairing code of what was read.
    static func symbol(of contents: [QRContent], in file: String) throws -> PairingSymbol {
        if let ambiguity = ambiguity(of: contents, in: file) { throw ambiguity }
        if let symbol = symbols(of: contents).first { return symbol }
        let what = contents.map {
            switch $0 {
            case .unusable(let reason): "its pairing code cannot be used: \(reason)"
            case .foreign(let what): "it is \(what)"
            case .pairing, .aicli: ""
            }
        }
        throw CommandError(
            .nothingFound,
            "scan.not_a_pairing_code",
            "\(name(file)) has no pairing code: \(what.joined(separator: "; "))",
            next: "take the picture of the code that the host shows for pairing"
        )
    }

    /// The error for a picture that shows different pairing codes: which of them is meant cannot be known.
    static func ambiguity(of contents: [QRContent], in file: String) -> CommandError? {
        guard symbols(of: contents).count > 1 else { return nil }
        return CommandError(
            .usage,
            "scan.several_codes",
            "\(name(file)) shows several different pairing codes",
            next: "cut the picture to the code of the host that you want"
        )
    }

    private static func symbols(of contents: [QRContent]) -> Set<PairingSymbol> {
        Set(contents.compactMap(PairingSymbol.init))
    }

    private static func load(_ file: String, context: CommandContext) async throws -> [UInt8] {
        let limit = ImageLimits.default.maxFileBytes
        let input = context.stdin
        do {
            let content = try await BlockingCall.run {
                file == "-" ? try input.readAll(limit: limit) : try PrivateFile.read(file, limit: limit)
            }
            if let content { return content }
        } catch let error as PrivateFile.Failure {
            throw CommandError(.failed, "image.io", error.description)
        }
        throw file == "-"
            ? CommandError(.failed, "image.too_large", "standard input has more than \(limit >> 20) MiB")
            : CommandError(.nothingFound, "image.io", "\(file): there is no such file")
    }

    /// The payload itself instead of a picture of it.
    private static func payloadText(_ bytes: [UInt8]) -> QRContent? {
        let start = bytes.first { !" \t\r\n".utf8.contains($0) }
        if start == UInt8(ascii: "{") { return QRContent(bytes) }
        // A URL may be any text file's beginning: only one that pairs counts.
        guard start == UInt8(ascii: "h") || start == UInt8(ascii: "w"), case .aicli(let payload) = QRContent(bytes)
        else { return nil }
        return .aicli(payload)
    }

    private static func name(_ file: String) -> String {
        file == "-" ? "standard input" : file
    }

    private static func hint(_ error: QRCodecError) -> String? {
        error.code == .unsupportedFormat ? "save the picture as PNG or JPEG" : nil
    }
}

/// A code that a host can be paired by.
enum PairingSymbol: Sendable, Hashable {
    case companion(PairingPayload)
    case aicli(AICLIPayload)

    /// - Returns: Nil for what pairs with nothing.
    init?(_ content: QRContent) {
        switch content {
        case .pairing(let payload): self = .companion(payload)
        case .aicli(let payload): self = .aicli(payload)
        case .unusable, .foreign: return nil
        }
    }
}
