import Glibc

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
