import CompanionWire
import FoundationEssentials
import LocalState

/// The outbox of one host on the disk: a file that only its owner can read.
package struct OutboxStore: Sendable {
    private let file: RecordFile<Outbox>
    package var path: String { file.path }

    /// - Parameter path: The file; its lock is beside it.
    package init(path: String, lock: String? = nil) {
        file = RecordFile(
            path: path,
            lock: lock ?? path + ".lock",
            limit: 64 << 20,
            decoder: CompanionJSON.decoder(),
            encoder: CompanionJSON.encoder(sorted: true),
            empty: Outbox(),
            remedy: "move it away"
        )
    }

    /// - Throws: `RecordFileError` if the file is damaged or of a later version; `PrivateFile.Failure` if others
    ///   can have written it. The file is left unchanged.
    package func load() throws -> Outbox {
        try file.load()
    }

    /// Whether the file is not damaged, as far as it can be read.
    package var isWhole: Bool { file.isWhole }

    /// Reads, changes and stores the prompts, while no other process does the same. Blocks until it is its turn.
    ///
    /// - Returns: The result of `change`.
    /// - Throws: As ``load()`` does; errors of `change` and of writing.
    @discardableResult
    package func update<R>(_ change: (inout Outbox) throws -> R) throws -> R {
        try file.update(change)
    }

    /// Removes all prompts.
    package func removeAll() throws {
        guard FileStatus(path) != nil else { return }
        try FileLock.withBlocking(file.lock) { try FileManager.default.removeItem(atPath: path) }
    }
}
