import CommandCore
import FoundationEssentials
import Glibc
import PairingAgent

/// Whether keys and records are whole, and this user's alone.
struct FileCheck: DoctorCheck {
    let name = CheckName.files
    /// The tool's data directory.
    let directory: String

    func findings() async throws -> [Finding] {
        let directory = directory
        return try await BlockingCall.run { Self.look(at: directory) }
    }

    private static func look(at directory: String) -> [Finding] {
        guard FileStatus(directory) != nil else {
            return [.ok(.files, about: directory, "there is nothing yet: the key is made with the first pairing")]
        }
        let names = entries(of: directory).map { "\(directory)/\($0)" }
        // What the host keeps is in a directory of its own; projects that it made are not looked into.
        let paths = [directory] + names + entries(of: directory + "/host").map { "\(directory)/host/\($0)" }
        var findings: [Finding] = []
        for path in paths {
            guard let status = FileStatus(path, followingLinks: false) else { continue }
            if let finding = finding(path, status, user: geteuid()) { findings.append(finding) }
        }
        if findings.isEmpty { findings = damage(in: directory) }
        guard findings.isEmpty else { return findings }
        return [.ok(.files, about: directory, "\(paths.count) files and directories, readable by you alone")]
    }

    /// - Returns: nil where all is well.
    static func finding(_ path: String, _ status: FileStatus, user: UInt32) -> Finding? {
        let mode = String(status.permissions, radix: 8)
        guard status.kind == .file || status.kind == .directory else { return nil }
        guard status.owner == user else {
            return .problem(.files, about: path, "belongs to user \(status.owner)", .ownFile, ["FILE": path])
        }
        guard status.permissions & 0o077 != 0 else { return nil }
        guard status.kind == .directory else {
            return .problem(.files, about: path, "other users may use it (mode \(mode))", .protectFile, ["FILE": path])
        }
        let values = ["DIRECTORY": path]
        // Names alone are seen in a directory that is open to readers: the files are closed by themselves.
        return status.permissions & 0o022 != 0
            ? .problem(
                .files,
                about: path,
                "other users may put files into it (mode \(mode))",
                .protectDirectory,
                values
            )
            : .warning(.files, about: path, "other users may look into it (mode \(mode))", .protectDirectory, values)
    }

    private static func damage(in directory: String) -> [Finding] {
        var findings: [Finding] = []
        for keys in [directory, directory + "/host"].map({ SecureKeyStore(directory: $0) }) {
            do {
                _ = try keys.load()
            } catch {
                findings.append(.problem(.files, about: keys.path, error.message, .replaceFile, ["FILE": keys.path]))
            }
        }
        let store = PairedHostStore(directory: directory)
        do {
            _ = try store.load()
        } catch {
            findings.append(.problem(.files, about: store.path, error.description, .replaceFile, ["FILE": store.path]))
        }
        return findings
    }

    private static func entries(of directory: String) -> [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []).sorted()
    }
}
