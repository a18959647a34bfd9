import ArgumentParser
import CompanionApp
import CompanionWire

/// Usage errors that the argument parser finds.
enum UsageError {
    /// The parser's message in the style of other errors: names in the same quotes, placeholders as help writes them.
    ///
    /// - Parameter command: The command that was given, for the option that was meant. Default: none.
    static func sentence(of error: any Error, in command: (any ParsableCommand.Type)? = nil) -> String {
        // Long lists of values have a line for each.
        var message = Pairtool.message(for: error).replacing("following:\n  - ", with: "following: ")
            .replacing("\n  - ", with: ", ")
        if let command, let typed = message.dropping(prefix: "Unknown option '")?.cut(at: "'")?.before {
            let meant = option(like: String(typed), of: command)
            message = "Unknown option '\(typed)'" + (meant.map { "; did you mean '\($0)'?" } ?? "")
        }
        message = message.replacing(/<([a-z][a-z0-9-]*)>/) { $0.output.1.uppercased() }
            .replacing(/(^|[ (])'([^']*)'/) { "\($0.output.1)“\($0.output.2)”" }
        return MessageStyle.sentence(message)
    }

    /// The option of a command that a word may stand for: the only one that begins with it, or the nearest.
    private static func option(like word: String, of command: any ParsableCommand.Type) -> String? {
        let help = Pairtool.helpMessage(for: command.configuration.defaultSubcommand ?? command)
        // Such as `  -q, --quiet   Print ids only.`
        let labels = help.parts("\n").filter { $0.begins(with: "  -") }
        let options = labels.flatMap { label in
            label.parts(" ").prefix { $0.begins(with: "-") }.map { String($0.dropping(suffix: ",") ?? $0) }
        }
        return NearestWord.of(word, in: options)
    }
}
