import CompanionWire
import LocalState

/// Pulls a Lumi host's files, and keeps each as soon as it is there. Nothing is ever pushed.
package struct LumiSync: Sendable {
    /// The result of pulling one file.
    package enum Outcome: Sendable, Hashable {
        /// It was kept, in place of the one from before.
        case stored(bytes: Int)
        /// It is as it was pulled last.
        case unchanged(bytes: Int)
        /// The host has no such file; older ones lack some.
        case missing
        /// It may hold secrets and was not asked for.
        case leftOut
        /// The one from before was kept. For people; holds nothing of the file.
        case failed(reason: String)
        /// It was not asked for any more, since the connection was gone.
        case notReached
    }

    /// A file and the result of pulling it.
    package struct Item: Sendable, Hashable {
        package let file: LumiSyncFile
        package let outcome: Outcome
    }

    /// Conversations come last: they alone can grow beyond what a frame holds, and that ends the connection.
    static let order: [LumiSyncFile] = [.agents, .automations, .settings, .apiKeys, .health, .conversations]

    private let store: LumiStore
    private let withKeys: Bool
    private let pulledMark: Int64?

    /// - Parameters:
    ///   - withKeys: Whether files that hold secrets are pulled too, in clear text over the network.
    ///   - pulledMark: Of the conversations that were pulled last and have been moved; nil if they are not known.
    package init(store: LumiStore, withKeys: Bool, pulledMark: Int64? = nil) {
        self.store = store
        self.withKeys = withKeys
        self.pulledMark = pulledMark
    }

    /// Pulls the files one after the other: one that fails leaves the others, and what was there before, alone. Whether
    /// the host has sync is found out by asking: how it accepts connections does not tell.
    ///
    /// - Parameter note: Called with each file's outcome as soon as it is known.
    /// - Throws: ``CompanionClientError`` with the code `unsupportedVersion` where the host does not know the command;
    ///   `CancellationError`. Whatever goes wrong with a file is its outcome.
    package func run(_ client: LumiClient, note: (Item) -> Void = { _ in }) async throws -> [Item] {
        var items: [Item] = []
        var isConnected = true
        for file in Self.order {
            var outcome = Outcome.notReached
            if file.holdsSecrets, !withKeys {
                outcome = .leftOut
            } else if isConnected {
                (outcome, isConnected) = try await pull(file, from: client)
            }
            let item = Item(file: file, outcome: outcome)
            items.append(item)
            note(item)
        }
        return items
    }

    /// - Returns: What became of the file, and whether the connection still stands.
    private func pull(_ file: LumiSyncFile, from client: LumiClient) async throws -> (Outcome, Bool) {
        do {
            let answer = try await client.exchange(.syncData(file))
            guard answer.success else {
                let reason = answer.error ?? answer.result
                if reason.utf8.starts(with: "Unknown command".utf8) {
                    throw CompanionClientError(
                        .unsupportedVersion,
                        message: "\(client.endpoint) is an old Lumi host, which has no sync.",
                        hostText: reason
                    )
                }
                return (reason.ends(with: "not found") ? .missing : .failed(reason: reason), true)
            }
            guard let bytes = answer.data else { return (.failed(reason: "the host sent no data"), true) }
            let isKnown =
                file == .conversations && pulledMark.map { $0 == LumiStore.mark(of: bytes) } == true
                || (try? PrivateFile.read(store.path(of: file))) == bytes
            if isKnown { return (.unchanged(bytes: bytes.count), true) }
            try store.replace(file, with: bytes)
            return (.stored(bytes: bytes.count), true)
        } catch let error as LumiStoreError {
            return (.failed(reason: error.message), true)
        } catch let error as CompanionClientError where error.code != .unsupportedVersion {
            // A late answer to a command that timed out is dropped, so the connection is still good then.
            return (.failed(reason: error.message), error.code == .timedOut)
        }
    }
}

extension LumiRequest {
    static func syncData(_ file: LumiSyncFile) -> LumiRequest {
        LumiRequest("get_sync_data", parameters: ["file": file.name], pace: .sync)
    }
}

/// The files that a Mac's Lumi gives to its companions: these names and no others are asked for, and no name of a peer
/// ever becomes a path (lumi, "Sync files" and "Guards").
package enum LumiSyncFile: String, CaseIterable, Sendable, Hashable {
    case agents = "agents.json"
    case conversations = "conversations.json"
    case automations = "automations.json"
    case settings = "sync_settings.json"
    case apiKeys = "sync_api_keys.json"
    /// Newer Macs only.
    case health = "health_data.json"

    /// On the wire and on the disk.
    package var name: String { rawValue }

    /// Whether keys of services may be in it, in clear text: it is pulled on request only.
    package var holdsSecrets: Bool {
        switch self {
        case .settings, .apiKeys: true
        case .agents, .conversations, .automations, .health: false
        }
    }
}
