import ArgumentParser
import CompanionWire
import FoundationEssentials

/// Lets completion scripts offer what a default subcommand takes where its name is left out: `pairtool chats` offers
/// projects, and `pairtool host --` the options of `pairtool host run`. The argument parser's scripts do not.
struct DefaultCompletions {
    private typealias Parent = (path: [String], usual: String)

    /// - Parameter script: A completion script of the argument parser, for bash, zsh or fish.
    static func added(to script: String) -> String {
        let parents = parents(of: Pairtool.self, at: [])
        guard script.begins(with: "#!/bin/bash") || script.begins(with: "#compdef") else {
            return parents.reduce(script, fish)
        }
        return parents.reduce(script, script.begins(with: "#compdef") ? zsh : bash)
    }

    /// The commands with a default subcommand.
    private static func parents(of command: any ParsableCommand.Type, at path: [String]) -> [Parent] {
        let usual = command.configuration.defaultSubcommand?.configuration.commandName
        let own = usual.map { [(path: path, usual: $0)] } ?? []
        return own
            + command.configuration.subcommands.flatMap {
                parents(of: $0, at: path + [$0.configuration.commandName ?? ""])
            }
    }

    /// Changes a function of a script.
    ///
    /// - Parameter change: Gets its lines, without the first and the last one.
    private static func changing(
        _ name: String,
        in script: String,
        _ change: ([String]) -> [String]
    ) -> String {
        var lines = script.components(separatedBy: "\n")
        guard let start = lines.firstIndex(of: name + "() {"), let end = lines[start...].firstIndex(of: "}") else {
            return script
        }
        lines.replaceSubrange(start + 1..<end, with: change(Array(lines[start + 1..<end])))
        return lines.joined(separator: "\n")
    }

    private static func body(of name: String, in script: String) -> [String] {
        var found: [String] = []
        _ = changing(name, in: script) { lines in
            found = lines
            return lines
        }
        return found
    }

    private static func name(_ words: [String]) -> String { "_pairtool_" + words.joined(separator: "_") }

    private static func bash(_ script: String, _ parent: Parent) -> String {
        changing(name(parent.path), in: script) { lines in
            ["    local -a default_words=(\"${unparsed_words[@]}\")"]
                + lines.flatMap { line -> [String] in
                    guard line.begins(with: "        COMPREPLY+=($(compgen -W ") else { return [line] }
                    return [
                        "        unparsed_words=(\"${default_words[@]}\") COMPREPLY=()",
                        "        \(name(parent.path + [parent.usual]))",
                        "        [[ ${#default_words[@]} -gt 1 || \"${cur}\" = -* ]] ||",
                        "    " + line,
                    ]
                }
        }
    }

    private static func zsh(_ script: String, _ parent: Parent) -> String {
        let theirs = body(of: name(parent.path + [parent.usual]), in: script)
        let arrays = theirs.filter { $0.begins(with: "    local -ar ___") }
        let options = theirs.filter {
            $0.begins(with: "        '-") || $0.begins(with: "        '(-") || $0.begins(with: "        '*-")
        }
        // Behind the word that the user is asked for: `':project:{…}'`.
        let positional = theirs.first { $0.begins(with: "        ':") && $0.has("{__pairtool_custom_complete") }
        let names = positional.flatMap { $0.cut(at: "{")?.after }.flatMap { $0.dropping(suffix: "}'") }
        return changing(name(parent.path), in: script) { lines in
            lines.flatMap { line -> [String] in
                if line.begins(with: "    local -ar arg_specs=(") { return arrays + [line] + options }
                // Theirs has the same.
                if line.begins(with: "        '--version[") || line.begins(with: "        '(-h --help)'{") { return [] }
                if line.begins(with: "        _describe -V subcommand"), let names {
                    return [line, "        \(names) && ret=0"]
                }
                return [line]
            }
        }
    }

    private static func fish(_ script: String, _ parent: Parent) -> String {
        let path = (["pairtool"] + parent.path).joined(separator: " ")
        let theirs = "_for_positional \"\(path) \(parent.usual)\" "
        let options = "_flags_or_options \"\(path) \(parent.usual)\""
        let shared = ["\" version' -l 'version'", "\" h help' -s 'h'"].map { "\(path) \(parent.usual)" + $0 }
        var lines = script.components(separatedBy: "\n")
        lines = lines.flatMap { line -> [String] in
            guard line.has(theirs) || line.has(options), !shared.contains(where: line.has) else { return [line] }
            return [line, line.replacing("\"\(path) \(parent.usual)\"", with: "\"\(path)\"")]
        }
        // Where the words of the command line are told apart.
        var depth = 0
        for (index, line) in lines.enumerated() {
            let words = line.trimmingWhitespace()
            guard depth < parent.path.count else {
                guard words.begins(with: "__pairtool_parse_subcommand"),
                    let usual = lines[index...].firstIndex(where: {
                        $0.trimmingWhitespace().isSame(as: "case '\(parent.usual)'")
                    }),
                    let quote = lines[usual + 1].utf8.firstIndex(of: UInt8(ascii: "'")),
                    let own = line.utf8.firstIndex(of: UInt8(ascii: "'"))
                else { break }
                lines[index] = String(line[..<own] + lines[usual + 1][quote...])
                break
            }
            if words.isSame(as: "case '\(parent.path[depth])'") { depth += 1 }
        }
        return lines.joined(separator: "\n")
    }
}
