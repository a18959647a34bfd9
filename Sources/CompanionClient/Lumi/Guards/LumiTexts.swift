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
