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
