package import CompanionClient
import FoundationEssentials
import Glibc
import LocalState

/// Whether keys and records are intact, and readable by this user only.
package struct FileCheck: DoctorCheck {
    package let name = CheckName.files
    private let directory: String
    private let families: [FamilyFiles]

    /// - Parameters:
    ///   - directory: The tool's data directory.
    ///   - families: The files that the families keep there.
    package init(directory: String, families: [FamilyFiles]) {
        self.directory = directory
        self.families = families
    }

    package func findings() async throws -> [Finding] {
        let (directory, families) = (directory, families)
        return try await BlockingCall.run { Self.look(at: directory, for: families) }
    }

    private static func look(at directory: String, for families: [FamilyFiles]) -> [Finding] {
        guard FileStatus(directory) != nil else {
            return [.ok(.files, about: directory, evidence: "there are no files yet; the first pairing makes a key")]
        }
        let names = entries(of: directory).map { "\(directory)/\($0)" }
        // The host's files are in a directory of their own; the projects that it created are not checked.
        let paths =
            [directory] + names + entries(of: directory + "/host").map { "\(directory)/host/\($0)" }
            + (families.map(\.directory) + ["outbox"]).flatMap { all(below: "\(directory)/\($0)") }
        var findings: [Finding] = []
        for path in paths {
            guard let status = FileStatus(path, followingLinks: false) else { continue }
            if let finding = finding(path, status: status, user: geteuid()) { findings.append(finding) }
        }
        // A file that cannot be read is not damaged: its owner is reported above, and the advice to move it away would
        // lose it.
        let records = RecordCheck(directory: directory, families: families)
        findings += records.findings().filter { isReadable($0.subject ?? "") }
        guard findings.isEmpty else { return findings }
        return [.ok(.files, about: directory, evidence: "\(paths.count) files and directories, readable by you only")]
    }

    /// - Returns: nil if owner and mode are right.
    static func finding(_ path: String, status: FileStatus, user: UInt32) -> Finding? {
        let mode = String(status.permissions, radix: 8)
        guard status.kind == .file || status.kind == .directory else { return nil }
        guard status.owner == user else {
            return .problem(
                .files,
                about: path,
                evidence: "belongs to user \(status.owner)",
                advice: .ownFile,
                values: ["FILE": path]
            )
        }
        guard status.kind == .directory || status.permissions & 0o400 != 0 else {
            return .problem(
                .files,
                about: path,
                evidence: "you may not read it (mode \(mode))",
                advice: .protectFile,
                values: ["FILE": path]
            )
        }
        guard status.permissions & 0o077 != 0 else { return nil }
        guard status.kind == .directory else {
            return .problem(
                .files,
                about: path,
                evidence: "other users may use it (mode \(mode))",
                advice: .protectFile,
                values: ["FILE": path]
            )
        }
        let values = ["DIRECTORY": path]
        // A directory that others can read shows only names: the files have their own permissions.
        return status.permissions & 0o022 != 0
            ? .problem(
                .files,
                about: path,
                evidence: "other users may put files into it (mode \(mode))",
                advice: .protectDirectory,
                values: values
            )
            : .warning(
                .files,
                about: path,
                evidence: "other users may look into it (mode \(mode))",
                advice: .protectDirectory,
                values: values
            )
    }

    /// Whether this user owns the file and can read it.
    private static func isReadable(_ path: String) -> Bool {
        FileStatus(path)?.owner == geteuid() && access(path, R_OK) == 0
    }

    /// All paths below a directory. Symbolic links are not followed.
    private static func all(below directory: String) -> [String] {
        guard FileStatus(directory, followingLinks: false)?.kind == .directory else { return [] }
        return entries(of: directory).map { "\(directory)/\($0)" }.flatMap { [$0] + all(below: $0) }
    }

    static func entries(of directory: String) -> [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []).sorted()
    }
}
