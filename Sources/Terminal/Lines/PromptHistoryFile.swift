import CompanionWire
import LocalState

/// The prompts that the user typed before, in a file that all programs of this user share.
package struct PromptHistoryFile: Sendable {
    /// How many prompts are kept.
    static let limit = 1000
    /// The longest prompt that is kept, in bytes.
    private static let longest = 16 << 10

    private struct Content: Codable, Equatable {
        var version = 1
        /// Oldest first.
        var prompts: [String] = []
    }

    private let file: RecordFile<Content>

    /// - Parameter directory: The tool's state directory.
    package init(directory: String) {
        file = RecordFile(
            path: directory + "/prompts.json",
            lock: directory + "/prompts.json.lock",
            limit: 32 << 20,
            decoder: CompanionJSON.decoder(),
            encoder: CompanionJSON.encoder(sorted: true),
            empty: Content(),
            remedy: "move it away",
            isDurable: false
        )
    }

    /// The prompts, oldest first; none if the file cannot be read: prompts can be typed without them.
    package func load() -> [String] {
        (try? file.load().prompts) ?? []
    }

    /// Adds a prompt, unless it repeats the last one, begins with a blank or is very long. A file that cannot be
    /// written, or that a later version of pairtool wrote, stays as it is.
    package func append(_ prompt: String) {
        guard prompt.utf8.first != UInt8(ascii: " "), prompt.utf8.count <= Self.longest else { return }
        try? file.update { content in
            guard !(content.prompts.last.map { $0.isSame(as: prompt) } ?? false) else { return }
            content.prompts.append(prompt)
            content.prompts.removeFirst(max(0, content.prompts.count - Self.limit))
        }
    }
}
