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
