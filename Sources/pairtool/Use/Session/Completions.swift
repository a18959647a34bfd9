import CompanionClient
import CompanionWire
import Discovery
import PairingAgent

/// The words that the shell offers: paired hosts from the records, hosts in sight from the network, and the projects,
/// chats, models and devices of the host that is named, or of the default one.
enum Completions {
    static func hosts() -> [String] {
        let hosts = try? PairedHostStore(directory: CommandContext.current.paths.data).load()
        return words((hosts?.hosts ?? []).map { ($0.name, $0.id) })
    }

    /// The hosts in sight that `pairtool pair` can be told to pair with.
    static func hostsInSight(_ words: [String]) async -> [String] {
        let context = CommandContext.current
        let choice = DiscoveryChoice(interface: value(of: "--interface", in: words))
        guard let client = try? choice.client(context: context, usualInterface: nil, domain: nil) else { return [] }
        let found = try? await DiscoverySnapshot.run(client: client, types: ServiceType.all, limit: .seconds(2)) {
            $0.isSettled
        }
        return Self.words((found?.hosts ?? []).flatMap(PairingTarget.targets).map { ($0.name, $0.id) })
    }

    static func projects(_ words: [String]) async -> [String] {
        await live(words) { session in
            Self.words(try await session.projects.mergedProjects().map { ($0.project.name, $0.id) })
        }
    }

    static func chats(_ words: [String]) async -> [String] {
        await live(words) { session in
            let chats = try await session.chats(in: try await session.projects.mergedProjects())
            return Self.words(chats.map { ($0.chat.title, $0.chat.id) })
        }
    }

    static func models(_ words: [String]) async -> [String] {
        await live(words) { try await $0.models.models().map(\.id).filter(isPlain) }
    }

    static func devices(_ words: [String]) async -> [String] {
        await live(words) { try await $0.devices.devices().map(\.id).filter(isPlain) }
    }

    /// Asks the host that the words name, or the default one; a host that does not answer soon offers nothing.
    private static func live(
        _ words: [String],
        _ body: @escaping @Sendable (HostSession) async throws -> [String]
    ) async -> [String] {
        let context = CommandContext.current
        let store = PairedHostStore(directory: context.paths.data)
        let named = value(of: "--host", in: words)
        guard
            let hosts = try? store.load(),
            let host = try? PairedHostSelection.select(named ?? context.hostVariable, in: hosts)
        else { return [] }
        let output = Output(context: context, format: .quiet)
        let found = try? await withTimeLimit(.seconds(2)) {
            try await HostSession.with(host, output: output, body)
        }
        return (found ?? nil) ?? []
    }

    private static func value(of option: String, in words: [String]) -> String? {
        words.firstIndex(of: option).flatMap { words.indices.contains($0 + 1) ? words[$0 + 1] : nil }
    }

    /// What the shell is offered for things: their names, or the ids of those whose names are shared or cannot be offered.
    private static func words(_ things: [(name: String, id: String)]) -> [String] {
        let context = CommandContext.current
        let shell = context.environment["SAP_SHELL"]
        // bash expands what it is offered, unless the script is ours; see ``CompletionScript``.
        let isQuoted =
            shell == "zsh" || shell == "fish"
            || (shell == "bash" && context.environment[CompletionScript.variable] != nil)
        let counts = Dictionary(things.map { ($0.name.lowercased(), 1) }, uniquingKeysWith: +)
        return things.compactMap { name, id in
            if counts[name.lowercased()] == 1, isPlain(name) || (isQuoted && isText(name)) {
                // zsh takes what follows a colon for a description.
                return shell == "zsh" ? escapingColons(name) : name
            }
            return isPlain(id) ? id : nil
        }
    }

    private static func escapingColons(_ text: String) -> String {
        var result = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            if scalar == ":" || scalar == "\\" { result.append("\\") }
            result.append(scalar)
        }
        return String(result)
    }

    /// Whether a name is one line that no shell takes for an option.
    static func isText(_ name: String) -> Bool {
        guard let first = name.unicodeScalars.first, first != "-" else { return false }
        return !TerminalText.isUnsafe(name) && !name.trimmingBlanks().isEmpty
    }

    /// Whether a shell takes a word as it is, if it expands what it is offered: nothing but plain ASCII gets through.
    static func isPlain(_ word: String) -> Bool {
        !word.isEmpty && word.first != "-"
            && word.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"):
                    true
                default: "._:-".utf8.contains(byte)
                }
            }
    }
}
