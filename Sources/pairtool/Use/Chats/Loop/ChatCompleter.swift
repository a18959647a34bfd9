import CompanionApp
import CompanionClient
import CompanionWire
import FoundationEssentials
import LineEditor
import LocalState
import NIOConcurrencyHelpers
import Terminal

/// Completes what is typed in the interactive chat: commands, chats, models, tools and files.
final class ChatCompleter: Sendable {
    private struct State: Sendable {
        var session: HostSession?
        var models: [String]?
        var tools: [String] = []
    }

    private let context: TerminalContext
    private let state = NIOLockedValueBox(State())

    init(context: TerminalContext) {
        self.context = context
    }

    func use(_ session: HostSession) {
        state.withLockedValue { $0.session = session }
    }

    /// Adds tools to those that `/allow` completes.
    func tools(_ names: [String]) {
        state.withLockedValue { state in
            state.tools = (state.tools + names).map(ByteText.init).unique.map(\.text)
        }
    }

    /// - Parameter text: The line up to the cursor.
    func completion(of text: String) async -> Completion? {
        guard text.begins(with: "/") else { return await mention(in: text) }
        guard let (command, argument) = text.cut(at: " ") else {
            return Self.matching(text, in: ChatWords.commands, end: " ")
        }
        let word = String(argument)
        switch command {
        case "/new": return Self.matching(word, in: await projects())
        case "/model", "/agent": return Self.matching(word, in: await models())
        case "/chats": return Self.matching(word, in: await chats())
        case "/auto": return Self.matching(word, in: AutoResponse.Mode.allCases.map(\.rawValue) + ["off"])
        case "/allow":
            if let (_, scope) = word.cut(at: " ") { return Self.matching(String(scope), in: ChatWords.scopes) }
            return Self.matching(word, in: state.withLockedValue(\.tools), end: " ")
        case "/image", "/save": return Completion(word: word, candidates: await files(word))
        case "/edit": return await mention(in: text)
        default: return nil
        }
    }

    private static func matching(_ word: String, in words: [String], end: String = "") -> Completion {
        let lowered = word.lowercased()
        let found = words.filter { Completions.isText($0) && $0.lowercased().begins(with: lowered) }
        return Completion(word: word, candidates: found.map { $0 + end })
    }

    // MARK: The host

    private func models() async -> [String] {
        if let known = state.withLockedValue(\.models) { return known }
        let models = await ask { try await $0.models.models().map(\.id) }
        if !models.isEmpty { state.withLockedValue { $0.models = models } }
        return models
    }

    private func projects() async -> [String] {
        await ask { try await $0.projects.mergedProjects().map(\.project.name) }
    }

    private func chats() async -> [String] {
        await ask { session in
            try await session.chats(in: try await session.projects.mergedProjects()).map(\.chat.title)
        }
    }

    /// Asks the host. If it does not answer in time, there are no completions.
    private func ask(_ body: @escaping @Sendable (HostSession) async throws -> [String]) async -> [String] {
        guard let session = state.withLockedValue(\.session) else { return [] }
        let found = try? await withTimeLimit(.seconds(2)) { try await body(session) }
        return (found ?? nil) ?? []
    }

    // MARK: Files

    /// Completes the file behind the last sign.
    private func mention(in text: String) async -> Completion? {
        guard let (before, path) = text.cut(atLast: "@") else { return nil }
        guard before.unicodeScalars.last?.properties.isWhitespace ?? true || before.ends(with: "(") else { return nil }
        let isQuoted = path.begins(with: "\"")
        let typed = String(isQuoted ? path.dropFirst() : path)
        guard isQuoted || !typed.unicodeScalars.contains(where: \.properties.isWhitespace) else { return nil }
        let names = await files(typed).map { name in
            let isWhole = !name.ends(with: "/")
            guard isQuoted || name.unicodeScalars.contains(where: \.properties.isWhitespace) else {
                return "@" + name + (isWhole ? " " : "")
            }
            return "@\"" + name + (isWhole ? "\" " : "")
        }
        return Completion(word: "@" + path, candidates: names)
    }

    /// The files whose paths begin so; directories end with a slash.
    private func files(_ path: String) async -> [String] {
        let context = context
        return (try? await BlockingCall.run { Self.files(path, in: context) }) ?? []
    }

    private static func files(_ path: String, in context: TerminalContext) -> [String] {
        let (directory, beginning) =
            path.cut(atLast: "/").map { (String($0.before) + "/", String($0.after)) } ?? ("", path)
        let place = HomePath.expanded(directory.isEmpty ? "." : directory, context.environment)
        let names = (try? FileManager.default.contentsOfDirectory(atPath: place)) ?? []
        return names.filter { name in
            name.begins(with: beginning) && (!name.begins(with: ".") || beginning.begins(with: "."))
                && Completions.isText(name) && !name.has("\"")
        }
        .sorted()
        .prefix(500)
        .map { name in
            let isDirectory = FileStatus("\(place)/\(name)")?.kind == .directory
            return directory + name + (isDirectory ? "/" : "")
        }
    }
}
