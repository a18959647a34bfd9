import CompanionClient
import CompanionWire
import PairingAgent

/// The names that the shell offers: paired hosts from the records, projects and chats live from the default host.
enum Completions {
    static func hosts() -> [String] {
        let hosts = try? PairedHostStore(directory: CommandContext.current.paths.data).load()
        return (hosts?.hosts ?? []).flatMap { word($0.name, id: $0.id) }
    }

    static func projects(_ words: [String]) async -> [String] {
        await live(words) { session in
            try await session.projects.mergedProjects().flatMap { word($0.project.name, id: $0.id) }
        }
    }

    static func chats(_ words: [String]) async -> [String] {
        await live(words) { session in
            try await session.chats(in: try await session.projects.mergedProjects()).flatMap {
                word($0.chat.title, id: $0.chat.id)
            }
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
        let named = words.firstIndex(of: "--host").flatMap { words.indices.contains($0 + 1) ? words[$0 + 1] : nil }
        guard
            let hosts = try? store.load(),
            let host = try? PairedHostSelection.select(named ?? context.environment["PAIRTOOL_HOST"], in: hosts)
        else { return [] }
        let output = Output(context: context, format: .quiet)
        let found = try? await withTimeLimit(.seconds(2)) {
            try await HostSession.with(host, output: output, body)
        }
        return (found ?? nil) ?? []
    }

    /// What the shell is offered for a thing: its name if that is plain, else its id if that is.
    private static func word(_ name: String, id: String) -> [String] {
        [name, id].first(where: isPlain).map { [$0] } ?? []
    }

    /// Whether a shell takes a word as it is. Shells expand what they are offered (`compgen -W`), and the words are a
    /// peer's: nothing but plain ASCII gets through.
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
