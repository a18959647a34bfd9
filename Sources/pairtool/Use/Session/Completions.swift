import CompanionApp
import CompanionClient
import CompanionWire
import Discovery
import Identity
import LocalState
import PairingAgent
import Terminal

/// Shell completions: paired hosts from the records, visible hosts from the network, and the projects, chats, models
/// and devices of the named or the default host.
enum Completions {
    static func hosts() -> [String] {
        let hosts = try? PairedHostStore(directory: TerminalContext.current.paths.data).load()
        return words((hosts?.hosts ?? []).map { ($0.name, $0.id) })
    }

    /// The visible hosts that `pairtool pair` accepts as an argument.
    static func hostsInSight(_ words: [String]) async -> [String] {
        let context = TerminalContext.current
        let choice = DiscoveryChoice(interface: value(of: "--interface", in: words))
        let environment = Output(context: context, format: .quiet).environment(choice)
        guard let client = try? environment.discoveryClient() else { return [] }
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

    /// The devices that are paired with this user's own host.
    static func ownDevices() async -> [String] {
        let devices = try? await Output(context: .current, format: .quiet).owner.devices()
        return words((devices ?? []).map { ($0.name, $0.id) })
    }

    /// Asks the named or the default host. If it does not answer in time, there are no completions.
    private static func live(
        _ words: [String],
        _ body: @escaping @Sendable (HostSession) async throws -> [String]
    ) async -> [String] {
        let environment = Output(context: .current, format: .quiet).environment().muted()
        let store = PairedHostStore(directory: environment.paths.data)
        let named = value(of: "--host", in: words)
        guard
            let hosts = try? store.load(),
            let host = try? PairedHostSelection.select(named ?? environment.hostVariable, in: hosts)
        else { return [] }
        let found = try? await withTimeLimit(.seconds(2)) {
            try await HostSession.with(host, environment: environment, body)
        }
        return (found ?? nil) ?? []
    }

    private static func value(of option: String, in words: [String]) -> String? {
        words.firstIndex(of: option).flatMap { words.indices.contains($0 + 1) ? words[$0 + 1] : nil }
    }

    /// The completions for things: their names, or their ids if a name is ambiguous or not safe to complete.
    private static func words(_ things: [(name: String, id: String)]) -> [String] {
        let context = TerminalContext.current
        let shell = context.environment["SAP_SHELL"]
        // bash expands the words that it completes, unless our own script quotes them; see ``CompletionScript``.
        let isQuoted =
            shell == "zsh" || shell == "fish"
            || (shell == "bash" && context.environment[CompletionScript.variable] != nil)
        let counts = Dictionary(things.map { ($0.name.lowercased(), 1) }, uniquingKeysWith: +)
        return things.compactMap { name, id in
            if counts[name.lowercased()] == 1, isPlain(name) || (isQuoted && isText(name)) {
                // zsh takes text after a colon for a description.
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

    /// Whether a name is a single line and no shell takes it for an option.
    static func isText(_ name: String) -> Bool {
        guard let first = name.unicodeScalars.first, first != "-" else { return false }
        return !TerminalText.isUnsafe(name) && !name.trimmingWhitespace().isEmpty
    }

    /// Whether a shell that expands completions leaves a word unchanged. Accepts only plain ASCII.
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
