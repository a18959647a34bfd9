import Glibc

extension QRScanner {
    /// Decodes a picture and looks for codes in it, in the ``DecodingSandbox``.
    ///
    /// - Parameters:
    ///   - data: The picture.
    ///   - scan: Does it.
    /// - Throws: What `scan` throws; ``QRCodecError`` with the code `decoderFailed` where no thread can be started.
    static func confined(
        _ data: [UInt8],
        _ scan: () throws(QRCodecError) -> [ScannedSymbol]
    ) throws(QRCodecError) -> [ScannedSymbol] {
        // What is otherwise read from files when it is first used. Whether a payload is wanted may depend on a time in
        // it, and the table of the time zone is read once a process: one that could not be read would stay UTC.
        tzset()
        SymbolAlphabets.prepared
        if ImageFormat(data) == .heic { _ = HEIFLibrary.installed }
        return try DecodingSandbox.run { Result { () throws(QRCodecError) in try scan() } }.get()
    }
}

/// The alphabets that a symbol can name for its text (ISO/IEC 18004, 7.4.2), as far as zbar knows them.
enum SymbolAlphabets {
    /// Their names, as zbar calls them.
    private static let names = ["CP437", "SJIS", "BIG-5"] + (1...16).map { "ISO8859-\($0)" }

    /// Opens a converter for each, which stays open: the C library loads it from a file, which the ``DecodingSandbox``
    /// does not allow. One that is not installed is left out.
    static let prepared: Void = {
        for name in names { _ = iconv_open("UTF-8", name) }
    }()
}
