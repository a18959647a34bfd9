import CompanionClient
import FoundationEssentials
package import Identity
import LocalState

/// Remembers the last turn of each chat, so that it can be cancelled without its id.
package struct LastTurns: Sendable {
    private let directory: String

    package init(environment: AppEnvironment) {
        directory = environment.paths.runtime
    }

    private func path(_ chatID: String, at host: PairedHost) -> String {
        "\(directory)/last-\(DeviceIdentity.shortHash("\(host.id) \(chatID)")).turn"
    }

    package func remember(_ turnID: String, chatID: String, host: PairedHost) throws {
        try Array(turnID.utf8).withUnsafeBytes {
            try PrivateFile.write($0, to: path(chatID, at: host), isDurable: false)
        }
    }

    /// The id of the last turn that this machine began in a chat.
    package func last(chatID: String, host: PairedHost) throws -> String? {
        let bytes = try PrivateFile.readRecord(path(chatID, at: host), limit: 1 << 10)
        guard let bytes, !bytes.isEmpty else { return nil }
        return String(decoding: bytes, as: UTF8.self)
    }
}
