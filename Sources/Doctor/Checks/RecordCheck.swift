import CompanionClient
import CompanionHost
import CompanionWire
import FoundationEssentials
import Identity
import LocalState
import Providers

/// Whether the tool's records are valid. Each one is read by its own store.
struct RecordCheck {
    /// The tool's data directory.
    let directory: String
    let families: [FamilyFiles]

    func findings() -> [Finding] {
        let keys = [directory, directory + "/host"].map { SecureKeyStore(directory: $0) }
        let hosts = PairedHostStore(directory: directory)
        let secrets = HostSecretStore(directory: directory)
        let sessions = SessionTokenStore(directory: directory)
        let providers = ProviderKeyStore(directory: directory)
        return keys.compactMap { key in finding(key.path, advice: .replaceFile) { try key.check() } }
            + [
                finding(hosts.path, advice: .replaceFile) { _ = try hosts.load(isChecked: false) },
                finding(secrets.path, advice: .replaceFile) { try secrets.check() },
                finding(sessions.path, advice: .moveAway) { try sessions.check() },
                finding(providers.path, advice: .setKeys) { try providers.check() },
            ].compactMap(\.self) + belongings
    }

    /// The files that belong to single hosts.
    private var belongings: [Finding] {
        var findings = HostFiles.damaged(in: directory + "/host").map { damaged($0, advice: .replaceFile) }
        let outboxes = FileCheck.entries(of: "\(directory)/outbox").filter { $0.ends(with: ".json") }
        for name in outboxes where !OutboxStore(path: "\(directory)/outbox/\(name)").isWhole {
            findings.append(damaged("\(directory)/outbox/\(name)", advice: .moveAway))
        }
        for family in families {
            for host in FileCheck.entries(of: "\(directory)/\(family.directory)") {
                findings += family.damaged(directory, host).map {
                    damaged($0.path, advice: $0.canBePulledAgain ? .pullAgain : .moveAway)
                }
            }
        }
        return findings
    }

    private func damaged(_ path: String, advice: Advice) -> Finding {
        .problem(.files, about: path, evidence: "it is damaged", advice: advice, values: ["FILE": path])
    }

    /// - Returns: nil if the file is valid or does not exist.
    private func finding(_ path: String, advice: Advice, _ load: () throws -> Void) -> Finding? {
        // Opening a pipe or a device could block.
        guard let status = FileStatus(path), status.kind == .file else { return nil }
        do {
            try load()
            return nil
        } catch {
            return .problem(.files, about: path, evidence: "\(error)", advice: advice, values: ["FILE": path])
        }
    }
}
