import CompanionWire

/// The path of a file in a repository: bytes, which need not be UTF-8.
struct GitPath: Sendable, Hashable {
    let bytes: [UInt8]

    init(_ bytes: some Sequence<UInt8>) {
        self.bytes = Array(bytes)
    }

    /// The directory that it is in; nil at the top.
    var directory: GitPath? {
        bytes.lastIndex(of: UInt8(ascii: "/")).map { GitPath(bytes[..<$0]) }
    }

    /// The path as git writes it in a difference: in quotes, with escapes, where it is not plain UTF-8 text.
    var text: String {
        let plain = String(validating: bytes, as: UTF8.self)
        if let plain, !bytes.contains(where: { $0 < 0x20 || $0 == 0x7F || $0 == 0x22 || $0 == 0x5C }) { return plain }
        return quoted
    }

    /// The path in quotes, with escapes.
    var quoted: String {
        var quoted = "\""
        for byte in bytes {
            switch byte {
            case UInt8(ascii: "\n"): quoted += "\\n"
            case UInt8(ascii: "\t"): quoted += "\\t"
            case UInt8(ascii: "\r"): quoted += "\\r"
            case 0x22, 0x5C: quoted += "\\" + String(UnicodeScalar(byte))
            case 0x20..<0x7F: quoted += String(UnicodeScalar(byte))
            default:
                let digits = String(byte, radix: 8)
                quoted += "\\" + String(repeating: "0", count: 3 - digits.count) + digits
            }
        }
        return quoted + "\""
    }

    /// The path as one word of a command for a shell.
    var shellWord: String {
        let isPlain = bytes.allSatisfy { byte in
            (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
                || "/._-+@%".utf8.contains(byte)
        }
        let text = String(decoding: bytes, as: UTF8.self)
        return isPlain ? text : "'" + text.parts("'", omittingEmpty: false).joined(separator: "'\\''") + "'"
    }

    /// The path below a directory; nil for one that is not in there.
    ///
    /// - Parameter directory: Empty for the top.
    func below(_ directory: String) -> GitPath? {
        guard !directory.isEmpty else { return self }
        let above = Array(directory.utf8) + [UInt8(ascii: "/")]
        return bytes.starts(with: above) && bytes.count > above.count ? GitPath(bytes.dropFirst(above.count)) : nil
    }

    /// Whether a person means this file: by its text, or by a directory that it is in.
    func isMeant(by word: String) -> Bool {
        var word = Array(word.utf8)
        if text.utf8.elementsEqual(word) { return true }
        while word.last == UInt8(ascii: "/") { word.removeLast() }
        return !word.isEmpty && (bytes == word || bytes.starts(with: word + [UInt8(ascii: "/")]))
    }
}
