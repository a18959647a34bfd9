import ArgumentParser
import FoundationEssentials
import Terminal
import Testing

@testable import pairtool

/// The manual page, against the commands that it describes.
@Suite struct ManualTests {
    private static let root = "/" + #filePath.split(separator: "/").dropLast(4).joined(separator: "/")

    private struct Command: Decodable {
        struct Argument: Decodable {
            struct Name: Decodable {
                var kind: String
                var name: String
            }

            var names: [Name]?
            var shouldDisplay: Bool
        }

        var commandName: String
        var abstract: String?
        var discussion: String?
        var shouldDisplay: Bool
        var arguments: [Argument]?
        var subcommands: [Command]?

        /// The command and those below it, with the words that name them; without what help does not show.
        func all(_ path: [String] = []) -> [(words: String, command: Command)] {
            guard shouldDisplay, commandName != "help" else { return [] }
            let words = path + [commandName]
            return [(words.joined(separator: " "), self)] + (subcommands ?? []).flatMap { $0.all(words) }
        }
    }

    private struct Dump: Decodable {
        var command: Command
    }

    private func commands() async throws -> [(words: String, command: Command)] {
        try await Sandbox.with { user in
            let dump = await user.run("--experimental-dump-help")
            #expect(dump.status == 0)
            return try JSONDecoder().decode(Dump.self, from: Data(dump.out.utf8)).command.all()
        }
    }

    private static func page(_ name: String) throws -> String {
        try String(contentsOf: URL(filePath: root + "/share/man/\(name).1"), encoding: .utf8)
    }

    @Test("Each command has its page, with every subcommand and every long option, and the overview names it")
    func complete() async throws {
        let overview = try Self.page("pairtool")
        let shared = Set(overview.split(whereSeparator: { $0 == " " || $0 == "\n" }))
        let all = try await commands()
        let top = all.filter { $0.words.split(separator: " ").count == 2 }
        #expect(top.count > 25)
        for (name, command) in top {
            #expect(overview.contains("\n.It Xr pairtool-\(command.commandName) 1\n"), "\(name)")
            let page = try Self.page("pairtool-\(command.commandName)")
            let lines = Set(page.split(separator: "\n"))
            let words = shared.union(page.split(whereSeparator: { $0 == " " || $0 == "\n" }))
            for (below, command) in all where below == name || below.hasPrefix(name + " ") {
                if below != name { #expect(lines.contains(".It Cm \(below.dropFirst(name.count + 1))"), "\(below)") }
                for argument in command.arguments ?? [] where argument.shouldDisplay {
                    for long in argument.names ?? [] where long.kind == "long" {
                        #expect(words.contains("-\(long.name)"), "\(below) --\(long.name)")
                    }
                }
            }
        }
    }

    @Test("Every command has a summary and worked examples, which name commands and options that there are")
    func examples() async throws {
        for (name, command) in try await commands().dropFirst() {
            #expect(command.abstract?.hasSuffix(".") == true, "\(name)")
            let parts = (command.discussion ?? "").split(separator: "Examples:\n")
            let examples = parts.last.map { $0.split(separator: "\n") } ?? []
            #expect((2...3).contains(examples.count) && examples.allSatisfy { $0.contains("pairtool ") }, "\(name)")
            for example in examples {
                // From `pairtool` on, up to what the shell does with it.
                let line = example[(example.firstRange(of: "pairtool ")?.lowerBound ?? example.startIndex)...]
                    .split(separator: " < ")[0].split(separator: " && ")[0]
                var words = try #require(ShellWords.split(String(line)), "\(example)").dropFirst()
                if let end = words.firstIndex(of: "--"), words[words.startIndex] == "auto" { words = words[..<end] }
                let parsed = Result { try Pairtool.parseAsRoot(CommandWords(Array(words)).words) }
                #expect(throws: Never.self, "\(example)") { try parsed.get() }
            }
        }
    }
}
