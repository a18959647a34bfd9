package import CompanionWire
import LocalState
package import PairingAgent
package import QRCodec

/// Reads QR codes from a picture in a file or on standard input, on a thread that may block.
package enum PairingPicture {
    /// The contents of all QR codes in the picture.
    ///
    /// - Parameter file: A path, or `-` for standard input. A file that holds the payload as text works as well.
    /// - Throws: ``AppError`` when it cannot be read or has no QR code.
    package static func read(_ file: String, environment: AppEnvironment) async throws -> [FoundCode] {
        try await contents(of: try await load(file, environment: environment), in: name(file))
    }

    /// The contents of all QR codes in a picture. The bytes may also be the payload as text.
    ///
    /// - Parameter place: The picture's name in messages.
    /// - Throws: ``AppError`` when it cannot be read or has no QR code.
    package static func contents(of bytes: [UInt8], in place: String) async throws -> [FoundCode] {
        if let content = payloadText(bytes) { return [content] }
        return try await BlockingCall.run { try contents(in: place) { try QRScanner.scan(bytes, where: isOurs) } }
    }

    /// The contents of all QR codes in a decoded picture.
    package static func contents(of image: QRImage, in place: String) async throws -> [FoundCode] {
        try await BlockingCall.run { try contents(in: place) { try QRScanner.scan(image, where: isOurs) } }
    }

    private static func contents(
        in place: String,
        _ scan: () throws -> [ScannedSymbol]
    ) throws -> [FoundCode] {
        let symbols: [ScannedSymbol]
        do {
            symbols = try scan()
        } catch let error as QRCodecError {
            throw AppError(
                .failed,
                "image.\(error.code)",
                "\(place): \(MessageStyle.sentence(error.message))",
                next: hint(error)
            )
        }
        guard !symbols.isEmpty else {
            throw AppError(
                .nothingFound,
                "scan.no_code",
                "\(place): no QR code was found in the picture",
                next: "take a sharper picture, closer and in even light, or type the six digits: pairtool pair"
            )
        }
        return symbols.map { FoundCode($0.bytes) }
    }

    private static func isOurs(_ bytes: [UInt8]) -> Bool {
        PairingSymbol(QRContent(bytes)) != nil
    }

    /// The one pairing code among the contents.
    ///
    /// - Throws: ``AppError`` when there is none, or more than one.
    package static func symbol(of contents: [FoundCode], in place: String) throws -> PairingSymbol {
        if let ambiguity = ambiguity(of: contents, in: place) { throw ambiguity }
        if let symbol = symbols(of: contents).first { return symbol }
        let what = contents.map {
            switch $0.content {
            case .unusable(let reason): "its pairing code cannot be used: \(reason)"
            case .foreign(let what): "it is \(what)"
            default: ""
            }
        }
        throw AppError(
            .nothingFound,
            "scan.not_a_pairing_code",
            "\(place) has no pairing code: \(what.joined(separator: "; "))",
            next: "take a picture of the pairing code that the host shows"
        )
    }

    /// The error for a picture that shows different pairing codes: pairtool cannot know which one is meant.
    package static func ambiguity(of contents: [FoundCode], in place: String) -> AppError? {
        guard symbols(of: contents).count > 1 else { return nil }
        return AppError(
            .usage,
            "scan.several_codes",
            "\(place) shows several different pairing codes",
            next: "crop the picture to the code of the host that you want"
        )
    }

    private static func symbols(of contents: [FoundCode]) -> Set<PairingSymbol> {
        Set(contents.compactMap { PairingSymbol($0.content) })
    }

    /// The codes of CopilotForge's protocol, without duplicates.
    package static func payloads(of contents: [FoundCode]) -> Set<PairingPayload> {
        Set(contents.compactMap { if case .pairing(let payload) = $0.content { payload } else { nil } })
    }

    /// Reads a file or standard input.
    ///
    /// - Throws: ``AppError`` when it cannot be read, or is larger than images may be.
    package static func load(_ file: String, environment: AppEnvironment) async throws -> [UInt8] {
        let limit = ImageLimits.default.maxFileBytes
        guard let content = try await environment.content(file, limit) else {
            throw AppError(.failed, "image.too_large", "\(name(file)) has more than \(limit >> 20) MiB")
        }
        return content
    }

    /// The payload, if the bytes are its text instead of a picture.
    private static func payloadText(_ bytes: [UInt8]) -> FoundCode? {
        let start = bytes.first { !" \t\r\n".utf8.contains($0) }
        guard let start, "{hw".utf8.contains(start) else { return nil }
        let code = FoundCode(bytes)
        if start == UInt8(ascii: "{") { return code }
        // Any text file may begin with a URL, so only a URL for pairing counts.
        if case .aicli = code.content { return code }
        return nil
    }

    /// A file's name in messages.
    package static func name(_ file: String) -> String {
        file == "-" ? "standard input" : file
    }

    private static func hint(_ error: QRCodecError) -> String? {
        error.code == .unsupportedFormat ? "save the picture as PNG or JPEG" : nil
    }
}

/// A code as it was read.
package struct FoundCode: Sendable, Hashable {
    package let bytes: [UInt8]
    /// The meaning of the bytes.
    package let content: QRContent

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
        content = QRContent(bytes)
    }
}

/// A code that can be used to pair with a host.
package enum PairingSymbol: Sendable, Hashable {
    case companion(PairingPayload)
    case aicli(AICLIPayload)

    /// - Returns: Nil if the content is not a pairing code.
    package init?(_ content: QRContent) {
        switch content {
        case .pairing(let payload): self = .companion(payload)
        case .aicli(let payload): self = .aicli(payload)
        case .unusable, .foreign: return nil
        }
    }

    /// The payload of a code that can also be typed as six digits; nil for the code of an AICLI server.
    package var payload: PairingPayload? { if case .companion(let payload) = self { payload } else { nil } }

    /// The address and token in the code of an AICLI server; nil for other codes.
    package var server: AICLIPayload? { if case .aicli(let payload) = self { payload } else { nil } }
}
