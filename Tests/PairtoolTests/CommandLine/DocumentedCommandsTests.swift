import ArgumentParser
import CompanionWire
import Foundation
import LocalState
import Terminal
import Testing

@testable import pairtool

/// The command lines in documents and in help: each is one that pairtool takes.
struct DocumentedCommandsTests {
    @Test("Every command line in a document is understood")
    func documents() async throws {
        var lines: [Line] = []
        for document in try Self.documents() {
            let (name, text) = (document.lastPathComponent, try String(contentsOf: document, encoding: .utf8))
            for line in text.split(separator: "\n") {
                guard let command = line.wholeMatch(of: /\ {4,}(?:\$ |[A-Z_]+=\S+ |.*\| )*pairtool( \S.*)?/) else {
                    continue
                }
                lines.append(Line(place: name, words: String(command.output.1 ?? ""), isWhole: true))
            }
            for match in text.matches(of: /`pairtool( [a-z-][^`]+)`/) where !match.output.1.contains("…") {
                lines.append(Line(place: name, words: String(match.output.1), isWhole: false))
            }
        }
        #expect(lines.count > 200, "found \(lines.count)")
        #expect(try await Self.faults(in: lines) == [])
    }

    @Test("Every example in help is understood")
    func examples() async throws {
        var lines: [Line] = []
        func look(_ command: any ParsableCommand.Type) {
            let name = command.configuration.commandName ?? ""
            for line in command.configuration.discussion.split(separator: "\n").drop(while: { $0 != "Examples:" }) {
                guard let example = line.firstMatch(of: /(?:^  |\| )pairtool( .*)/) else { continue }
                lines.append(Line(place: name, words: String(example.output.1), isWhole: true))
            }
            for subcommand in command.configuration.subcommands { look(subcommand) }
            for group in command.configuration.groupedSubcommands { group.subcommands.forEach(look) }
        }
        look(Pairtool.self)
        #expect(lines.count > 200, "found \(lines.count)")
        #expect(try await Self.faults(in: lines) == [])
    }

    /// A command line without the program's name.
    private struct Line: Sendable {
        var place: String
        var words: String
        /// Whether it is meant to be run as it is; else arguments may be missing.
        var isWhole: Bool
    }

    /// What is wrong, found on a thread of its own: it takes seconds.
    private static func faults(in lines: [Line]) async throws -> [String] {
        try await BlockingCall.run {
            lines.compactMap { line in
                fault(in: line.words, isWhole: line.isWhole).map { "\(line.place): pairtool\(line.words): \($0)" }
            }
        }
    }

    @Test(
        "What is no command line is found",
        arguments: ["hosts --hots x", "frobnicate", "pair --qr", "scan a --frames b"]
    )
    func faults(line: String) {
        #expect(Self.fault(in: line, isWhole: true) != nil)
    }

    /// What is wrong with a command line; nil if nothing is.
    private static func fault(in line: String, isWhole: Bool) -> String? {
        // Comments, pipes, redirections and what follows `&&` are the shell's.
        let own = line.prefix(upTo: line.firstRange(of: /\s(?:#|\||<|>|&&|2>)/)?.lowerBound ?? line.endIndex)
        guard let words = ShellWords.split(String(own)), let parsed = try? CommandWords(words) else {
            return "no command"
        }
        do {
            _ = try Pairtool.parseAsRoot(parsed.words)
            return nil
        } catch {
            guard Pairtool.exitCode(for: error) != .success else { return nil }
            let message = Pairtool.message(for: error)
            let isUnknown = message.contains("Unknown option") || message.contains("Unexpected argument")
            return isWhole || isUnknown ? message : nil
        }
    }

    private static func documents() throws -> [URL] {
        let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../..").standardized
        let files = FileManager.default
        let folders = [root, root.appending(path: "docs"), root.appending(path: "docs/hosts")]
        return try folders.flatMap { try files.contentsOfDirectory(at: $0, includingPropertiesForKeys: nil) }
            .filter { $0.pathExtension == "md" }
    }
}
