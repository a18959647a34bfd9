import Glibc
import LateLibraries
import ZBarSupport

extension QRScanner {
    /// Decodes a picture and looks for codes in it, in the ``DecodingSandbox``.
    ///
    /// - Parameters:
    ///   - data: The picture.
    ///   - scan: Does it; called again where a symbol names an alphabet whose converter has to be loaded first.
    /// - Throws: What `scan` throws; ``QRCodecError`` with the code `decoderFailed` where no thread can be started.
    static func confined(
        _ data: [UInt8],
        _ scan: () throws(QRCodecError) -> [ScannedSymbol]
    ) throws(QRCodecError) -> [ScannedSymbol] {
        openLibraries(for: data)
        var tries = 0
        while true {
            tries += 1
            var converter = zbar_converter()
            let (found, lacksConverter) = try DecodingSandbox.run {
                let found = Result { () throws(QRCodecError) in try scan() }
                return (found, zbar_lacks_converter(&converter) != 0)
            }
            // One that was opened stays open. There are more alphabets than tries only where somebody plays with them.
            guard lacksConverter, tries < 8, zbar_open_converter(&converter) != 0 else { return try found.get() }
        }
    }

    /// Opens what is otherwise opened when first used.
    private static func openLibraries(for data: [UInt8]) {
        // Whether a payload is wanted may depend on a time in it. The zone's table is read once a process: one that
        // could not be read would stay UTC.
        tzset()
        zbar_prepare_converters()
        switch ImageFormat(data) {
        case .png: _ = late_spng_is_there()
        case .heic: _ = HEIFLibrary.installed
        default: break
        }
    }
}
