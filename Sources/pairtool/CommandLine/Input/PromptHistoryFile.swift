import CompanionWire
import FoundationEssentials
import LocalState

/// The prompts of earlier chats, in a file that all chats of this user share.
struct PromptHistoryFile: Sendable {
    /// How many prompts are kept.
    static let limit = 1000
    /// The longest prompt that is kept, in bytes.
    private static let longest = 16 << 10

    private struct Content: Codable, Equatable {
        var version = 1
        /// Oldest first.
        var prompts: [String] = []
    }

    private struct NewerVersion: Error {}

    private let path: String

    /// - Parameter directory: The tool's state directory.
    init(directory: String) {
        path = directory + "/prompts.json"
    }

    /// The prompts, oldest first; none if the file cannot be read: a chat is possible without them.
    func load() -> [String] {
        (try? content().prompts) ?? []
    }

    /// Adds a prompt, unless it repeats the last one, begins with a blank or is very long. A file that cannot be
    /// written, or that a later version of pairtool wrote, stays as it is.
    func append(_ prompt: String) {
        guard prompt.utf8.first != UInt8(ascii: " "), prompt.utf8.count <= Self.longest else { return }
        let encoder = CompanionJSON.encoder(sorted: true)
        try? PrivateFile.update(path, lock: path + ".lock", encoder: encoder, isDurable: false, load: content) {
            content in
            guard !(content.prompts.last.map { $0.isSame(as: prompt) } ?? false) else { return }
            content.prompts.append(prompt)
            content.prompts.removeFirst(max(0, content.prompts.count - Self.limit))
        }
    }

    private func content() throws -> Content {
        guard let bytes = try PrivateFile.readRecord(path, limit: 32 << 20) else { return Content() }
        let content = try CompanionJSON.decoder().decode(Content.self, from: Data(bytes))
        guard content.version == 1 else { throw NewerVersion() }
        return content
    }
}
