import CZBar

/// Owns a zbar scanner that looks for QR codes only and hands over their bytes unchanged.
struct ZBarScanner: ~Copyable {
    private let scanner: OpaquePointer

    /// zbar's name for 8-bit grey: the four characters `Y800`, the first in the lowest byte.
    private static let greyFormat = "Y800".utf8.reversed().reduce(UInt(0)) { $0 << 8 | UInt($1) }

    /// - Throws: ``QRCodecError`` with the code `decoderFailed`.
    static func forQR() throws(QRCodecError) -> ZBarScanner {
        let scanner = try ZBarScanner()
        try scanner.configure()
        return scanner
    }

    private init() throws(QRCodecError) {
        guard let scanner = zbar_image_scanner_create() else {
            throw QRCodecError(.decoderFailed, message: "The QR code reader could not be started.")
        }
        self.scanner = scanner
    }

    deinit { zbar_image_scanner_destroy(scanner) }

    /// Turns every symbology off but the one that is wanted, and everything that leaves the process.
    private func configure() throws(QRCodecError) {
        // zbar can announce what it reads on the system's D-Bus, where it is built for that. What is read are secrets.
        zbar_image_scanner_request_dbus(scanner, 0)
        let settings: [(zbar_symbol_type_t, zbar_config_t, Int32)] = [
            (ZBAR_NONE, ZBAR_CFG_ENABLE, 0),
            (ZBAR_QRCODE, ZBAR_CFG_ENABLE, 1),
            // Without this, bytes that are not UTF-8 are taken for Shift JIS or Latin-1 and rewritten.
            (ZBAR_QRCODE, ZBAR_CFG_BINARY, 1),
        ]
        for (symbology, option, value) in settings {
            guard zbar_image_scanner_set_config(scanner, symbology, option, value) == 0 else {
                throw QRCodecError(
                    .decoderFailed,
                    message: "The QR code reader does not know a setting that is needed."
                )
            }
        }
    }

    /// The QR codes in a picture, from the top.
    ///
    /// - Parameter step: Of so many rows and columns one is looked along. In a photograph, more than 1 costs few
    ///   symbols.
    func scan(_ picture: QRImage, everyLines step: Int = 1) throws(QRCodecError) -> [ScannedSymbol] {
        for direction in [ZBAR_CFG_X_DENSITY, ZBAR_CFG_Y_DENSITY] {
            zbar_image_scanner_set_config(scanner, ZBAR_NONE, direction, Int32(step))
        }
        guard picture.width > 0, picture.height > 0 else { return [] }
        guard let image = zbar_image_create() else {
            throw QRCodecError(.decoderFailed, message: "There is not enough memory to look for QR codes.")
        }
        defer { zbar_image_destroy(image) }
        zbar_image_set_format(image, Self.greyFormat)
        zbar_image_set_size(image, UInt32(picture.width), UInt32(picture.height))
        // zbar keeps the pointer: it is set, used and forgotten within the closure.
        let found: [ScannedSymbol]? = picture.luminance.withUnsafeBytes { bytes in
            zbar_image_set_data(image, bytes.baseAddress, UInt(bytes.count), nil)
            defer { zbar_image_set_data(image, nil, 0, nil) }
            guard zbar_scan_image(scanner, image) >= 0 else { return nil }
            return Self.symbols(of: image)
        }
        guard let found else { throw QRCodecError(.decoderFailed, message: "The QR code reader gave up.") }
        return found.sorted { $0.position < $1.position }
    }

    private static func symbols(of image: OpaquePointer) -> [ScannedSymbol] {
        var found: [ScannedSymbol] = []
        var next = zbar_image_first_symbol(image)
        while let symbol = next {
            defer { next = zbar_symbol_next(symbol) }
            if zbar_symbol_get_type(symbol) == ZBAR_QRCODE {
                found.append(Self.symbol(symbol))
            } else if let part = part(of: symbol) {
                found.append(part)
            }
        }
        return found
    }

    /// Returns the part of a message in several symbols if it is the only one that was seen; `nil` if several were
    /// seen, but not all: zbar mixes those up.
    private static func part(of message: OpaquePointer) -> ScannedSymbol? {
        var parts: [OpaquePointer] = []
        var isFirstMissing = false
        var next = zbar_symbol_first_component(message)
        while let component = next {
            defer { next = zbar_symbol_next(component) }
            if zbar_symbol_get_type(component) == ZBAR_QRCODE {
                parts.append(component)
            } else if parts.isEmpty {
                isFirstMissing = true
            }
        }
        guard parts.count == 1 else { return nil }
        var part = symbol(parts[0])
        // For those before it, zbar writes a zero.
        if isFirstMissing, part.bytes.first == 0 { part.bytes.removeFirst() }
        return part
    }

    private static func symbol(_ symbol: OpaquePointer) -> ScannedSymbol {
        let count = Int(zbar_symbol_get_data_length(symbol))
        let bytes = zbar_symbol_get_data(symbol).map { Array(UnsafeRawBufferPointer(start: $0, count: count)) }
        let corners = (0..<zbar_symbol_get_loc_size(symbol)).map { index in
            Point(x: Int(zbar_symbol_get_loc_x(symbol, index)), y: Int(zbar_symbol_get_loc_y(symbol, index)))
        }
        return ScannedSymbol(bytes: bytes ?? [], corners: corners)
    }
}

extension QRImage {
    /// A clean drawing of a symbol, with its quiet zone.
    ///
    /// It has two pixels a module: one is too few for zbar, and three take it seven times as long, over all versions.
    ///
    /// - Parameters:
    ///   - size: Modules a side, without the quiet zone.
    ///   - isDark: Whether a module is dark, by its column and row; also asked for the quiet zone around the
    ///     symbol.
    init(modules size: Int, isDark: (Int, Int) -> Bool) {
        let (scale, quietZone) = (2, SymbolLayout.quietZone)
        let side = (size + 2 * quietZone) * scale
        self.init(width: side, height: side, filledWith: 255)
        luminance.withUnsafeMutableBufferPointer { pixels in
            for y in -quietZone..<size + quietZone {
                for x in -quietZone..<size + quietZone where isDark(x, y) {
                    let start = (y + quietZone) * scale * side + (x + quietZone) * scale
                    for row in 0..<scale {
                        for column in 0..<scale { pixels[start + row * side + column] = 0 }
                    }
                }
            }
        }
    }
}
