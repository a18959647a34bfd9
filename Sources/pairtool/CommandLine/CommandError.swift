import CompanionWire

/// The error of a command: what happened, why, and the next command to run.
struct CommandError: Error, Sendable {
    var status: ExitStatus
    /// A stable dotted word for scripts, such as `pairing.wrong_code`.
    var code: String
    /// The message for users: what happened, and why. May contain text from a peer; it is sanitised before it is shown.
    var message: String
    /// A list that belongs to the message, one item per line.
    var details: [String] = []
    /// The next command to run, or what else to do.
    var next: String?

    init(_ status: ExitStatus, _ code: String, _ message: String, next: String? = nil) {
        self.status = status
        self.code = Self.words(code)
        self.message = message
        self.next = next
    }

    /// Makes a stable code from the code of another module's error: `host.not_running` from `host.notRunning`,
    /// `provider.refused_url` from `provider.refusedURL`.
    private static func words(_ code: String) -> String {
        let letters = Array(code)
        return letters.indices.reduce(into: "") { text, index in
            // Among several capitals, the last one begins a word if a small letter follows.
            let beginsWord =
                !letters[..<index].suffix(1).allSatisfy(\.isUppercase)
                || letters[(index + 1)...].prefix(1).contains(where: \.isLowercase)
            if letters[index].isUppercase, beginsWord { text += "_" }
            text += letters[index].lowercased()
        }
    }
}

/// The style of errors and warnings: they begin in lower case, unless the first word is a name or a quote, and a single
/// sentence has no full stop.
enum MessageStyle {
    /// The words in lower case that sentences of the modules and of the argument parser begin with. Other words may be
    /// names, and stay as they are.
    private static let openings: Set<String> = [
        "a", "after", "an", "another", "cannot", "command", "frames", "give", "hosts", "internal", "invalid", "it",
        "missing", "name", "no", "nobody", "none", "not", "nothing", "only", "option", "pictures", "port", "rate",
        "several", "that", "the", "there", "these", "this", "to", "too", "unexpected", "unknown", "use", "value",
        "what", "with", "wrong", "you",
    ]

    /// - Parameter beginsWithName: Whether the first word is a name, even if it looks like another word.
    static func sentence(_ text: String, beginsWithName: Bool = false) -> String {
        var text = text
        let letters = text.utf8.prefix { (UInt8(ascii: "A")...UInt8(ascii: "z")).contains($0) }
        let word = String(decoding: letters, as: UTF8.self).lowercased()
        let endsWord = text.utf8.dropFirst(letters.count).first.map { " ,:".utf8.contains($0) } ?? true
        if !beginsWithName, endsWord, openings.contains(word) {
            text = word + String(decoding: text.utf8.dropFirst(letters.count), as: UTF8.self)
        }
        if text.ends(with: "."), !text.has(". ") { text.removeLast() }
        return text
    }
}

/// A warning about the result of a successful command, on standard error with `--json`.
struct WarningReport: Encodable {
    struct Body: Encodable {
        var code: String
        var message: String
        var next: String?
    }

    var warning: Body
}

/// The error of a failed command, on standard error with `--json`.
struct ErrorReport: Encodable {
    struct Body: Encodable {
        var code: String
        var exitStatus: Int32
        var message: String
        var details: [String]?
        var next: String?
    }

    var error: Body

    init(_ error: CommandError) {
        self.error = Body(
            code: error.code,
            exitStatus: error.status.rawValue,
            message: error.message,
            details: error.details.isEmpty ? nil : error.details,
            next: error.next
        )
    }
}
