/// The error of a command: what happened, why, and the next command to run.
struct CommandError: Error, Sendable {
    var status: ExitStatus
    /// A stable dotted word for scripts, such as `pairing.wrong_code`.
    var code: String
    /// What happened and why. May contain text from a peer; it is sanitised before it is shown.
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
