import CompanionClient
import CompanionHost
import CompanionWire
import FoundationEssentials
import Glibc
import Identity
import LocalState
import Providers
import Testing

@testable import Doctor

/// What is said of the tool's own files.
@Suite struct FileCheckTests {
    private static let host = "0123456789abcdef"
    /// Below the data directory.
    private static let records = [
        "identity.key", "hosts.json", "secrets.json", "sessions.json", "provider_keys.json", "host/identity.key",
        "host/tls.pem", "host/host.sqlite", "aicli/\(host)/sessions.json",
        "outbox/\(host).json", "aicli/\(host)/outbox.json",
        "lumi/\(host)/agents.json",
        "lumi/\(host)/conversations.json", "lumi/\(host)/automations.json", "lumi/\(host)/sync_settings.json",
        "lumi/\(host)/sync_api_keys.json", "lumi/\(host)/stars.json",
    ]

    private func write(_ text: String, to path: String, mode: Int = 0o600) throws {
        let directory = path.split(separator: "/").dropLast().reduce(into: "") { $0 += "/" + $1 }
        try FileManager.default.createDirectory(
            atPath: directory,
            withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700]
        )
        try Data(text.utf8).write(to: URL(filePath: path))
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
    }

    private func findings(_ data: String) async throws -> [Finding] {
        try await FileCheck(directory: data, families: [AICLIStore.files, LumiStore.files]).findings()
    }

    @Test("A record that is damaged is a problem, whichever it is", arguments: records)
    func damage(record: String) async throws {
        try await withTemporaryDirectory { data in
            let path = "\(data)/\(record)"
            try write("{bad", to: path)
            let findings = try await findings(data)
            #expect(findings.map(\.verdict) == [.problem], "\(findings)")
            #expect(findings.first?.subject == path && findings.first?.evidence.contains("damaged") == true)
            #expect(findings.first?.advice?.isEmpty == false)
        }
    }

    @Test("A mode that lets others in does not hide the damage", arguments: records)
    func damageAndMode(record: String) async throws {
        try await withTemporaryDirectory { data in
            let path = "\(data)/\(record)"
            try write("{bad", to: path, mode: 0o644)
            let findings = try await findings(data)
            #expect(findings.map(\.subject) == [path, path], "\(findings)")
            #expect(findings.first?.evidence == "other users may use it (mode 644)")
            #expect(findings.last?.evidence.contains("damaged") == true, "\(findings)")
        }
    }

    @Test(
        "A record of somebody else is not called damaged: moved away, it would be lost",
        .enabled(if: geteuid() == 0, "files of others are made by root")
    )
    func foreignRecord() async throws {
        try await withTemporaryDirectory { data in
            let path = "\(data)/sessions.json"
            try write("{bad", to: path)
            try #require(chown(path, 65_534, 65_534) == 0)
            let findings = try await findings(data)
            #expect(findings.map(\.evidence) == ["belongs to user 65534"], "\(findings)")
        }
    }

    @Test("A file of one's own that may not be read is to be opened, not moved away")
    func unreadableRecord() async throws {
        try await withTemporaryDirectory { data in
            let path = data + "/sessions.json"
            try write("{}", to: path)
            try #require(chmod(path, 0) == 0)
            let status = try #require(FileStatus(path))
            let finding = FileCheck.finding(path, status: status, user: geteuid())
            #expect(finding?.evidence == "you may not read it (mode 0)")
            #expect(finding?.advice?.contains("chmod 600") == true)
        }
    }

    @Test("Records that are whole are well")
    func whole() async throws {
        try await withTemporaryDirectory { data in
            _ = try SecureKeyStore(directory: data).identity()
            try HostSecretStore(directory: data).keep("token", hostID: Self.host)
            try PairedHostStore(directory: data).update { _ in }
            try ProviderKeyStore(directory: data).keep(
                nil,
                url: ProviderURL("http://127.0.0.1:1", provider: .ollama),
                for: .ollama
            )
            try AICLIStore(data: data, hostID: Self.host).updateSessions { _ in }
            try LumiStore(data: data, hostID: Self.host).star(UUID(), isStarred: true)
            _ = try HostCertificate(directory: data + "/host")
            try write("", to: data + "/host/host.sqlite")
            let findings = try await findings(data)
            #expect(findings.map(\.verdict) == [.ok], "\(findings)")
        }
    }
}

/// Runs a body with the path of a fresh directory, which is gone afterwards.
private func withTemporaryDirectory(_ body: (String) async throws -> Void) async throws {
    let path = FileManager.default.temporaryDirectory.path + "/doctor-tests-\(UUID().uuidString)"
    defer { try? FileManager.default.removeItem(atPath: path) }
    try await body(path)
}
