import CompanionWire

/// A line of a notification: the Mac puts it between double quotes into an AppleScript and escapes nothing.
package struct LumiNotificationText: Sendable, Hashable {
    package let text: String

    /// - Throws: ``LumiInputError`` for straight double quotes, backslashes and control characters, and for more than
    ///   1000 characters.
    package init(_ text: String) throws(LumiInputError) {
        guard text.count <= 1000 else { throw LumiInputError("a notification has at most 1000 characters") }
        // By scalars: another one may join with a quote to what people see as one character, and the Mac sees two.
        guard !text.unicodeScalars.contains("\""), !text.unicodeScalars.contains("\\"), !text.hasControls() else {
            throw LumiInputError(
                "a notification may have no straight double quotes, backslashes or control characters: a Mac would read them as "
                    + "part of a script. Write “ and ” instead"
            )
        }
        self.text = text
    }
}

/// Text that is typed on a Mac as if on its keyboard. The Mac escapes quotes and backslashes itself.
package struct LumiTypedText: Sendable, Hashable {
    package let text: String

    /// - Throws: ``LumiInputError`` for control characters other than line feed and tab, an empty text, and more than
    ///   4000 characters.
    package init(_ text: String) throws(LumiInputError) {
        guard !text.isEmpty else { throw LumiInputError("there is nothing to type") }
        guard text.count <= 4000 else { throw LumiInputError("at most 4000 characters are typed at once") }
        guard !text.hasControls(allowing: ["\n", "\t"]) else {
            throw LumiInputError("control characters cannot be typed: press keys instead (pairtool lumi remote key)")
        }
        self.text = text
    }
}

/// A command for a Mac's shell, or an AppleScript: it may do anything there, so the user is to confirm it.
package struct LumiScript: Sendable, Hashable {
    package let text: String

    /// - Throws: ``LumiInputError`` for an empty text, one with a NUL, and one over 1 MiB.
    package init(_ text: String) throws(LumiInputError) {
        guard !text.allSatisfy(\.isWhitespace) else { throw LumiInputError("there is nothing to run") }
        guard text.utf8.count <= 1 << 20 else { throw LumiInputError("the script is larger than 1 MiB") }
        guard !text.unicodeScalars.contains("\0") else { throw LumiInputError("a script has no NUL characters") }
        self.text = text
    }
}

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
                "the address has characters that a Mac would read as part of a command, or that no address has: "
                    + "write quotes, $, `, \\, <, >, ; and | as well as spaces and other letters percent-encoded, as in %22"
            )
        }
        // Of ASCII alone by now.
        let host = rest.prefix { !"/?#".contains($0) }
        guard let first = host.first, first.isLetter || first.isNumber || first == "[", !host.has("@") else {
            throw LumiInputError("the address has no host name, or it has a user name")
        }
        self.text = text
    }

    private static let forbidden = Set("\"'`$\\<>;|{}^".utf8)
}

/// The name of a Mac's application: the Mac puts it between double quotes into a script (lumi, Guards).
package struct LumiAppName: Sendable, Hashable {
    package let text: String

    /// - Throws: ``LumiInputError`` for anything but letters, digits, spaces and `.`, `-`, `_`, `+`.
    package init(_ text: String) throws(LumiInputError) {
        guard let first = text.first, first.isLetter || first.isNumber else {
            throw LumiInputError("the name of an application begins with a letter or a digit")
        }
        guard text.unicodeScalars.count <= 128 else { throw LumiInputError("the name is longer than 128 characters") }
        guard text.unicodeScalars.allSatisfy(Self.isAllowed) else {
            throw LumiInputError(
                "the name of an application may have letters, digits, spaces and . - _ + only: a Mac would read other "
                    + "characters as part of a script"
            )
        }
        self.text = text
    }

    private static func isAllowed(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter, .decimalNumber,
            .nonspacingMark, .spacingMark:
            true
        default: " .-_+".unicodeScalars.contains(scalar)
        }
    }
}

/// A value that must not reach a Lumi host: the Mac puts what it is sent into scripts (lumi, Guards). Nothing was sent.
package struct LumiInputError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The problem and what would be accepted, as text for people.
    package let message: String

    init(_ message: String) {
        self.message = message
    }

    package var description: String { message }
}

extension String {
    /// Whether a text has a character that steers something: C0, DEL, C1.
    ///
    /// - Parameter allowing: Those that may stand all the same.
    func hasControls(allowing allowed: Set<Unicode.Scalar> = []) -> Bool {
        unicodeScalars.contains { $0.properties.generalCategory == .control && !allowed.contains($0) }
    }
}
