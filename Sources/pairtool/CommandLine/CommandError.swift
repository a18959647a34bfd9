/// The error of a command: what happened, why, and the next command to run.
struct CommandError: Error, Sendable {
    var status: ExitStatus
    /// A stable dotted word for scripts, such as `pairing.wrong_code`.
    var code: String
    /// What happened and why. May hold text from a peer; it is sanitised when it is shown.
    var message: String
    /// What belongs to the message as a list, a line each.
    var details: [String] = []
    /// The next command or act.
    var next: String?

    init(_ status: ExitStatus, _ code: String, _ message: String, next: String? = nil) {
        self.status = status
        self.code = Self.words(code)
        self.message = message
        self.next = next
    }

    /// `host.not_running` of `host.notRunning`, `provider.refused_url` of `provider.refusedURL`: codes of other modules
    /// are named as their code is.
    private static func words(_ code: String) -> String {
        let letters = Array(code)
        return letters.indices.reduce(into: "") { text, index in
            // The last capital of several begins a word where a small letter follows.
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
