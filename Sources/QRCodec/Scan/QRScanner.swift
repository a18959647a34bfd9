/// Finds the QR codes in images.
package enum QRScanner {
    /// Reads the bytes of a PNG or JPEG file and finds the QR codes in it.
    ///
    /// A damaged or truncated image is read as far as it goes; that it is damaged is thrown only if the rest holds
    /// no QR code. Calls block for as long as the picture takes, about 10 ms a megapixel, and are safe on any thread.
    ///
    /// - Returns: What was found, from the top; empty if the picture is fine but holds no QR code.
    /// - Throws: ``QRCodecError`` with the code `empty`, `unsupportedFormat`, `truncated`, `corrupt`, `tooLarge` or
    ///   `decoderFailed`.
    package static func scan(
        _ data: [UInt8],
        limits: ImageLimits = .default
    ) throws(QRCodecError) -> [ScannedSymbol] {
        let decoded = try ImageDecoder.decode(data, limits: limits)
        let found = try scan(decoded.image)
        if found.isEmpty, let damage = decoded.damage { throw damage }
        return found
    }

    /// Finds the QR codes in a picture: as it is, then with dark and light exchanged, then at another size.
    ///
    /// - Returns: What was found, from the top; empty if there is no QR code.
    /// - Throws: ``QRCodecError`` with the code `decoderFailed`.
    package static func scan(_ image: QRImage) throws(QRCodecError) -> [ScannedSymbol] {
        let scanner = try ZBarScanner()
        try scanner.configure()
        if let found = try scanner.scanBothWays(image) { return found }
        guard let look = SecondLook(at: image) else { return [] }
        let found = try scanner.scanBothWays(look.image) ?? []
        return found.map { symbol in
            ScannedSymbol(bytes: symbol.bytes, corners: symbol.corners.map(look.original))
        }
    }
}

extension ZBarScanner {
    /// What is in a picture or, failing that, in its negative; `nil` if neither holds anything.
    fileprivate func scanBothWays(_ image: QRImage) throws(QRCodecError) -> [ScannedSymbol]? {
        let found = try scan(image)
        if !found.isEmpty { return found }
        var negative = image
        negative.invert()
        let foundInNegative = try scan(negative)
        return foundInNegative.isEmpty ? nil : foundInNegative
    }
}

/// A picture at another size, where the reader found nothing at its own.
private struct SecondLook {
    let image: QRImage
    /// Takes a place in ``image`` to the same place in the original.
    let original: @Sendable (Point) -> Point

    /// Small pictures are enlarged, since the reader needs about three pixels a module; large ones are halved, which
    /// takes out the noise and blur that it stumbles over.
    init?(at picture: QRImage) {
        let longest = max(picture.width, picture.height)
        guard min(picture.width, picture.height) > 0 else { return nil }
        if longest <= 600 {
            let (factor, margin) = (3, 16)
            image = picture.enlarged(by: factor, margin: margin)
            original = { Point(x: ($0.x - margin) / factor, y: ($0.y - margin) / factor) }
        } else {
            guard min(picture.width, picture.height) >= 2 else { return nil }
            image = picture.halved()
            original = { Point(x: $0.x * 2, y: $0.y * 2) }
        }
    }
}
