import ArgumentParser
import CompanionApp
import CompanionWire
import PairingAgent

/// Rewrites a command line for the argument parser: options that every command has may come before the command.
struct CommandWords {
    /// The words for the parser.
    private(set) var words: [String] = []
    /// The command's path, such as `["host", "pair"]`; empty for pairtool itself.
    private(set) var path: [String] = []

    /// The command at that path.
    private(set) var command: any ParsableCommand.Type = Pairtool.self
    /// Whether the help is to have every command.
    private(set) var wantsAll = false

    /// The options that may come before the command.
    private static let general: Set<String> = ["--json", "-q", "--quiet"]

    /// - Parameter arguments: The words after the program's name.
    /// - Throws: ``AppError`` with exit code 2 for an unknown command, with the nearest known one as a suggestion.
    init(_ arguments: [String]) throws {
        var rest = arguments[...]
        var options: [String] = []
        while let word = rest.first {
            if Self.general.contains(word) {
                options.append(word)
            } else if !enter(word) {
                break
            }
            rest.removeFirst()
        }
        if let word = rest.first, word.isSame(as: "help") {
            try showHelp(for: rest.dropFirst())
            return
        }
        if let word = rest.first, !word.begins(with: "-"), !command.configuration.subcommands.isEmpty,
            !(command.configuration.defaultSubcommand is any TakingWords.Type)
        {
            throw unknown(word)
        }
        if path.isEmpty {
            guard !rest.isEmpty || options.isEmpty else {
                throw AppError(.usage, "usage", "no command was given", next: "pairtool --help")
            }
            options = []
        }
        words = path + options + rest
    }

    /// Selects a subcommand.
    ///
    /// - Returns: Whether it exists.
    private mutating func enter(_ word: String) -> Bool {
        guard let next = command.configuration.subcommand(word) else { return false }
        command = next
        path.append(word)
        return true
    }

    /// Handles `pairtool help COMMAND` and `pairtool COMMAND help`.
    private mutating func showHelp(for topic: ArraySlice<String>) throws {
        for word in topic where !Self.general.contains(word) && !word.begins(with: "-") {
            guard enter(word) else { throw unknown(word) }
        }
        wantsAll = topic.contains { $0.isSame(as: "--all") }
        words = ["help"] + path
    }

    private func unknown(_ word: String) -> AppError {
        let place = path.joined(separator: " ")
        let what =
            path.isEmpty ? "there is no command “\(word)”" : "`pairtool \(place)` has no command “\(word)”"
        let suggestions = suggestions(for: word).map { "`\($0)`" }
        return AppError(
            .usage,
            "usage",
            suggestions.isEmpty ? what : "\(what); did you mean \(suggestions.joined(separator: " or "))?",
            next: (["pairtool"] + path + ["--help"]).joined(separator: " ")
        )
    }

    private func suggestions(for word: String) -> [String] {
        if let known = OtherWord.all[path + [word.lowercased()]] { return known }
        let own = command.configuration.subcommandNames
        if path.isEmpty { return NearestWord.of(word, in: own + ["help"]).map { [$0] } ?? [] }
        if let name = NearestWord.of(word, in: own) { return [(path + [name]).joined(separator: " ")] }
        // `ls`, `rm` and the like, for whatever the command lists and removes.
        let verbs = OtherWord.verbs[word.lowercased()] ?? []
        return verbs.filter { own.contains($0) }.prefix(1).map { (path + [$0]).joined(separator: " ") }
    }
}

/// Words of other tools for what pairtool does.
enum OtherWord {
    /// The commands for each word, by the command that the word follows.
    static let all: [[String]: [String]] = [
        ["ls"]: ["projects", "hosts"], ["list"]: ["projects", "hosts"], ["version"]: ["--version"],
        ["unpair"]: ["hosts forget", "devices revoke"], ["delete"]: ["hosts forget", "devices revoke"],
        ["rm"]: ["hosts forget", "devices revoke"], ["remove"]: ["hosts forget", "devices revoke"],
        ["forget"]: ["hosts forget"], ["revoke"]: ["devices revoke"], ["rename"]: ["hosts rename"],
        ["connect"]: ["pair"], ["login"]: ["pair"], ["add"]: ["pair"], ["logout"]: ["disconnect"],
        ["find"]: ["discover", "search"], ["browse"]: ["discover"], ["ask"]: ["send"], ["prompt"]: ["send"],
        ["serve"]: ["host"], ["server"]: ["host"], ["start"]: ["host"], ["run"]: ["host"], ["stop"]: ["chats cancel"],
        ["history"]: ["messages"], ["log"]: ["messages"], ["info"]: ["status"],
        ["create"]: ["projects new", "chats new"], ["new"]: ["projects new", "chats new"],
        ["cancel"]: ["chats cancel"],
        ["sessions"]: ["worktrees", "aicli sessions"], ["capabilities"]: ["status"],
        ["approve"]: ["approvals approve"], ["reject"]: ["approvals reject"], ["audit"]: ["host audit"],
    ]

    /// The subcommands that do what a verb of other tools does, the nearest first, by that verb.
    static let verbs: [String: [String]] = [
        "ls": ["list", "devices"], "show": ["list", "show", "status"], "rm": removal, "delete": removal,
        "remove": removal, "unpair": removal, "add": ["set", "pair", "send"], "start": ["run"], "serve": ["run"],
        "create": ["new"], "use": ["default"], "mv": ["rename"],
    ]

    private static let removal = ["forget", "revoke", "remove", "end"]
}

/// A default subcommand with arguments that are no options: a word behind its parent may be one of them.
protocol TakingWords: ParsableCommand {}

extension CommandConfiguration {
    /// The subcommand with a name or an alias.
    fileprivate func subcommand(_ word: String) -> (any ParsableCommand.Type)? {
        subcommands.first { $0.configuration.commandName == word || $0.configuration.aliases.contains(word) }
    }

    /// The names of the subcommands that help shows.
    fileprivate var subcommandNames: [String] {
        subcommands.filter { $0.configuration.shouldDisplay }.compactMap { $0.configuration.commandName }
    }
}
