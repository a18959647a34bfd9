import CompanionWire
import FoundationEssentials
import Identity
import LocalState

/// The outbox of one host on the disk: a file that only its owner can read.
package struct OutboxStore: Sendable {
    package let path: String
    private let lock: String

    /// - Parameter path: The file; its lock is beside it.
    package init(path: String, lock: String? = nil) {
        self.path = path
        self.lock = lock ?? path + ".lock"
    }

    /// - Throws: `PairedHostStoreError` if the file is damaged or of a later version; `PrivateFile.Failure` if others
    ///   can have written it. The file is left unchanged.
    package func load() throws -> Outbox {
        guard let bytes = try PrivateFile.readRecord(path, limit: 64 << 20) else { return Outbox() }
        let outbox: Outbox
        do {
            outbox = try CompanionJSON.decoder().decode(Outbox.self, from: Data(bytes))
        } catch {
            throw PairedHostStoreError(
                description: "\(path) is damaged",
                remedy: "move it away: mv '\(path)' '\(path).damaged'"
            )
        }
        guard outbox.version <= Outbox().version else {
            throw PairedHostStoreError(
                description: "\(path) was written by a newer version of pairtool",
                remedy: "update pairtool"
            )
        }
        return outbox
    }

    /// Whether the file can be read, or its owner or mode keeps it from being read.
    package var isWhole: Bool {
        do {
            _ = try load()
            return true
        } catch {
            return (error as? PrivateFile.Failure)?.remedy != nil
        }
    }

    @discardableResult
    package func update<R>(_ change: (inout Outbox) throws -> R) throws -> R {
        try PrivateFile.update(
            path,
            lock: lock,
            encoder: CompanionJSON.encoder(sorted: true),
            load: load,
            change
        )
    }

    /// Removes all prompts.
    package func removeAll() throws {
        guard FileStatus(path) != nil else { return }
        try FileLock.withBlocking(lock) { try FileManager.default.removeItem(atPath: path) }
    }
}
