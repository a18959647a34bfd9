import ArgumentParser
import CompanionWire
import FoundationEssentials

/// What `--help` prints.
struct HelpPage {
    /// The command, such as `HostCommand`.
    var command: any ParsableCommand.Type
    /// Whether pairtool's own page has every command.
    var hasAll = false
    /// The commands of families of which no host is paired: pairtool's own page leaves them out.
    var unused: Set<String> = []

    var text: String {
        guard command == Pairtool.self else { return Self.readable(ofCommand) }
        return hasAll ? allCommands : firstPage
    }

    // MARK: A command

    /// The page of the argument parser. A command with a default subcommand has the options of that.
    private var ofCommand: String {
        let own = Pairtool.helpMessage(for: command)
        guard let usual = command.configuration.defaultSubcommand, let name = usual.configuration.commandName else {
            return own
        }
        let theirs = Pairtool.helpMessage(for: usual).components(separatedBy: "\n\n")
        func isOptions(_ section: String) -> Bool {
            let title = section.cut(at: "\n")?.before ?? section[...]
            return title.ends(with: "OPTIONS:") || title.ends(with: "ARGUMENTS:")
        }
        return own.components(separatedBy: "\n\n").map { section in
            if let rest = section.dropping(prefix: "USAGE: "),
                let short = theirs.lazy.compactMap({ $0.dropping(prefix: "USAGE: ") }).first
            {
                return "USAGE: \(short.replacing(" \(name) ", with: " ", maxReplacements: 1))\n       \(rest)"
            }
            return section.begins(with: "OPTIONS:")
                ? theirs.filter(isOptions).joined(separator: "\n\n") : section
        }
        .joined(separator: "\n\n")
    }

    /// Writes `--host HOST` instead of `--host <host>`.
    private static func readable(_ page: String) -> String {
        page.parts("\n", omittingEmpty: false).map { line in
            let isUsage = line.begins(with: "USAGE: ") || line.begins(with: "       pairtool ")
            guard isUsage || line.begins(with: "  -") || line.begins(with: "  <") else { return String(line) }
            return String(line).replacing(/<([a-z][a-z0-9-]*)>/) { $0.output.1.uppercased() }
        }
        .joined(separator: "\n")
    }

    // MARK: All commands

    private var groups: [(title: String, commands: [any ParsableCommand.Type])] {
        command.configuration.groupedSubcommands.map { group in
            (group.name, group.subcommands.filter { !unused.contains($0.configuration.commandName ?? "") })
        }
    }

    private static func row(_ name: String, _ command: any ParsableCommand.Type) -> String {
        "  \(name.padded(to: 11)) \(command.configuration.abstract)"
    }

    /// One screen: what there is, and how to read more.
    private var firstPage: String {
        var lines = [command.configuration.abstract, "", "USAGE: pairtool COMMAND [ARGUMENTS] [OPTIONS]"]
        for group in groups where !group.commands.isEmpty {
            lines += ["", group.title.uppercased()]
            lines += group.commands.map { Self.row($0.configuration.commandName ?? "", $0) }
        }
        lines += [
            "", "pairtool COMMAND --help shows a command's options, pairtool help --all every command.",
        ]
        return lines.joined(separator: "\n")
    }

    private var allCommands: String {
        func rows(_ command: any ParsableCommand.Type, behind path: String) -> [(name: String, abstract: String)] {
            guard command.configuration.shouldDisplay else { return [] }
            let name = path + (command.configuration.commandName ?? "")
            return [(name, command.configuration.abstract)]
                + command.configuration.subcommands.flatMap { rows($0, behind: name + " ") }
        }
        return command.configuration.groupedSubcommands.map { group in
            let rows = group.subcommands.flatMap { rows($0, behind: "") }
            let width = rows.map(\.name.utf8.count).max() ?? 0
            return ([group.name.uppercased()] + rows.map { "  \($0.name.padded(to: width))  \($0.abstract)" })
                .joined(separator: "\n")
        }
        .joined(separator: "\n\n")
    }
}

extension String {
    /// The text with spaces behind it. Names of commands are ASCII.
    fileprivate func padded(to width: Int) -> String {
        self + String(repeating: " ", count: max(0, width - utf8.count))
    }
}
