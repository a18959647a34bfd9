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

    @Test(
        "Every command and every long option is in the manual page, those of the host also in its own",
        arguments: [("pairtool.1", "pairtool ", 70), ("pairtool-host.1", "pairtool host ", 18)]
    )
    func complete(name: String, above: String, count: Int) async throws {
        let page = try String(contentsOf: URL(filePath: Self.root + "/share/man/" + name), encoding: .utf8)
        let lines = Set(page.split(separator: "\n"))
        let words = Set(page.split(whereSeparator: { $0 == " " || $0 == "\n" }))
        var options: Set<String> = []
        for (name, command) in try await commands() where name.hasPrefix(above) {
            #expect(lines.contains(".It Cm \(name.dropFirst(above.count))"), "\(name)")
            for argument in command.arguments ?? [] where argument.shouldDisplay {
                for long in argument.names ?? [] where long.kind == "long" { options.insert(long.name) }
            }
        }
        #expect(options.count > count)
        for option in options.sorted() { #expect(words.contains("-\(option)"), "--\(option)") }
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
