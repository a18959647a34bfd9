import CompanionWire

/// A web address that a Mac may open: the Mac puts it between double quotes into a shell command (lumi, Guards).
package struct LumiURL: Sendable, Hashable {
    package let text: String

    /// - Throws: ``LumiInputError`` for anything but `http://` and `https://` with a host, for characters that have to
    ///   be percent-encoded, and for those that end the quotes or mean something between them.
    package init(_ text: String) throws(LumiInputError) {
        guard
            let rest = text.dropping(prefix: "https://", ignoringCase: true)
                ?? text.dropping(prefix: "http://", ignoringCase: true)
        else {
            throw LumiInputError("only addresses that begin with http:// or https:// are opened")
        }
        guard text.utf8.count <= 2048 else { throw LumiInputError("the address is longer than 2048 characters") }
        guard text.utf8.allSatisfy({ (0x21...0x7E).contains($0) && !Self.forbidden.contains($0) }) else {
            throw LumiInputError(
                "the address has characters that a Mac would read as part of a command, or that are not of an address: "
                    + "write quotes, $, `, \\, <, >, ; and | as well as spaces and other letters percent-encoded, as in %22"
            )
        }
        // Of ASCII alone by now.
        let host = rest.prefix { !"/?#".contains($0) }
        guard let first = host.first, first.isLetter || first.isNumber || first == "[", !host.has("@") else {
            throw LumiInputError("the address names no host, or a user besides it")
        }
        self.text = text
    }

    private static let forbidden = Set("\"'`$\\<>;|{}^".utf8)
}
