import ArgumentParser
import CompanionWire
import FoundationEssentials

/// The text that `--help` prints.
struct HelpPage {
    /// The command, such as `HostCommand`.
    var command: any ParsableCommand.Type
    /// Whether pairtool's own page has every command.
    var hasAll = false
    /// The commands of families of which no host is paired or in sight: pairtool's own page leaves them out.
    var unused: Set<String> = []

    /// Whether it is pairtool's own page, which has one line for each command.
    var isFirst: Bool { command == Pairtool.self && !hasAll }

    var text: String {
        if isFirst { return firstPage }
        return command == Pairtool.self ? allCommands : ofCommand
    }

    // MARK: A command

    /// The page of the argument parser. A command with a default subcommand has the options of that.
    private var ofCommand: String {
        let own = Pairtool.helpMessage(for: command).components(separatedBy: "\n\n")
        guard let usual = command.configuration.defaultSubcommand, let name = usual.configuration.commandName else {
            return Self.page(own)
        }
        let theirs = Pairtool.helpMessage(for: usual).components(separatedBy: "\n\n")
        let sections = own.flatMap { section -> [String] in
            if let rest = section.dropping(prefix: "USAGE: "),
                let short = theirs.lazy.compactMap({ $0.dropping(prefix: "USAGE: ") }).first
            {
                return ["USAGE: \(short.replacing(" \(name) ", with: " ", maxReplacements: 1))\n       \(rest)"]
            }
            return section.begins(with: "OPTIONS:") ? theirs.filter(Self.isOptions) : [section]
        }
        return Self.page(sections)
    }

    private static func isOptions(_ section: String) -> Bool {
        let title = section.cut(at: "\n")?.before ?? section[...]
        return title.ends(with: "OPTIONS:") || title.ends(with: "ARGUMENTS:")
    }

    /// Puts sections together. A command's own options come before those that it shares with others.
    private static func page(_ sections: [String]) -> String {
        var sections = sections.map { String($0.dropping(suffix: "\n") ?? $0[...]) }
        if let own = sections.firstIndex(where: { $0.begins(with: "OPTIONS:") }),
            let first = sections.firstIndex(where: { isOptions($0) && !$0.begins(with: "ARGUMENTS:") })
        {
            sections.insert(sections.remove(at: own), at: first)
        }
        return sections.joined(separator: "\n\n").parts("\n", omittingEmpty: false).map(line).joined(separator: "\n")
    }

    /// The column in which the parser begins explanations.
    private static let column = 26

    /// Writes `--host HOST` instead of `--host <host>`.
    private static func line(_ line: Substring) -> String {
        func named(_ text: String) -> String {
            text.replacing("<options>", with: "[OPTIONS]").replacing("<subcommand>", with: "COMMAND")
                .replacing(/<([a-z][a-z0-9-]*)>/) { $0.output.1.uppercased() }
        }
        if line.begins(with: "USAGE: ") || line.begins(with: "       pairtool ") {
            guard line.utf8.count > 79, line.has(" [-") else { return named(String(line)) }
            // Arguments may stand between the options.
            return named(String(line).replacing(/\ \[-[^\]]*\]/, with: "")) + " [OPTIONS]"
        }
        guard line.begins(with: "  -") || line.begins(with: "  <") else { return String(line) }
        let label = String(line.scalars(atMost: column))
        let rest = line.dropping(prefix: label) ?? ""
        guard !rest.isEmpty, label.ends(with: " ") else { return named(String(line)) }
        return named(label.trimmingWhitespace()).indented.padded(to: column) + rest
    }

    // MARK: All commands

    private typealias Row = (name: String, abstract: String)

    /// One screen: what there is, and how to read more.
    private var firstPage: String {
        let groups = groups { command in
            unused.contains(command.configuration.commandName ?? "") ? [] : [Self.row(command, behind: "")]
        }
        let parts =
            ["\(command.configuration.abstract)\n\nUSAGE: pairtool COMMAND [ARGUMENTS] [OPTIONS]"] + groups
            + ["More: pairtool COMMAND --help, and pairtool help --all for every command."]
        return parts.joined(separator: "\n\n")
    }

    private var allCommands: String {
        func rows(_ command: any ParsableCommand.Type, behind path: String) -> [Row] {
            guard command.configuration.shouldDisplay else { return [] }
            let row = Self.row(command, behind: path)
            return [row] + command.configuration.subcommands.flatMap { rows($0, behind: row.name + " ") }
        }
        return groups { rows($0, behind: "") }.joined(separator: "\n\n")
    }

    private static func row(_ command: any ParsableCommand.Type, behind path: String) -> Row {
        (path + (command.configuration.commandName ?? ""), command.configuration.abstract)
    }

    /// The groups of commands that have rows, each with its title, and one column for all names.
    private func groups(_ rows: (any ParsableCommand.Type) -> [Row]) -> [String] {
        let groups = command.configuration.groupedSubcommands.map { ($0.name, $0.subcommands.flatMap(rows)) }
        let width = groups.flatMap(\.1).map(\.name.utf8.count).max() ?? 0
        return groups.filter { !$0.1.isEmpty }.map { title, rows in
            ([title.uppercased()] + rows.map { $0.name.indented.padded(to: width + 2) + "  " + $0.abstract })
                .joined(separator: "\n")
        }
    }
}

extension String {
    fileprivate var indented: String { "  " + self }

    /// The text with spaces behind it. Names of commands are ASCII.
    fileprivate func padded(to width: Int) -> String {
        self + String(repeating: " ", count: max(0, width - utf8.count))
    }
}
