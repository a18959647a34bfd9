import CompanionWire
import Glibc
import LocalState

/// Whether the disks that the tool writes to have free space.
package struct DiskCheck: DoctorCheck {
    package let name = CheckName.disk
    private let directories: [String]

    /// - Parameter directories: The directories that the tool writes to; they need not exist.
    package init(directories: [String]) {
        self.directories = directories
    }

    /// Below this many free bytes, the disk will soon be full.
    private static let little = 64 << 20
    /// Below this many free bytes, a record and its temporary copy may not fit.
    private static let nothing = 1 << 20

    package func findings() async throws -> [Finding] {
        let directories = directories
        return try await BlockingCall.run {
            var findings: [Finding] = []
            var least = Int.max
            for directory in directories {
                let place = Self.existing(directory)
                guard access(place, W_OK) == 0 else {
                    let reason = String(cString: strerror(errno))
                    let finding = Finding.problem(
                        .disk,
                        about: place,
                        evidence: "cannot be written: \(reason)",
                        advice: .makeWritable,
                        values: ["DIRECTORY": place]
                    )
                    // Several directories can have the same nearest existing parent.
                    if !findings.contains(finding) { findings.append(finding) }
                    continue
                }
                guard let free = DiskSpace.free(at: place) else { continue }
                least = min(least, free)
                if let finding = Self.finding(directory, free: free) { findings.append(finding) }
            }
            guard findings.isEmpty else { return findings }
            guard least < .max else { return [.skipped(.disk, evidence: "the system does not say how much is free")] }
            return [.ok(.disk, evidence: "at least \(Self.text(least)) free")]
        }
    }

    static func finding(_ directory: String, free: Int) -> Finding? {
        let values = ["DIRECTORY": directory]
        return switch free {
        case ..<nothing:
            .problem(
                .disk,
                about: directory,
                evidence: "the disk is full: \(text(free)) free",
                advice: .makeRoom,
                values: values
            )
        case ..<little:
            .warning(
                .disk,
                about: directory,
                evidence: "the disk is almost full: \(text(free)) free",
                advice: .makeRoom,
                values: values
            )
        default: nil
        }
    }

    /// The directory, or its nearest parent that exists.
    private static func existing(_ directory: String) -> String {
        var path = directory[...]
        while !path.isEmpty, access(String(path), F_OK) != 0 {
            path = path.cut(atLast: "/")?.before ?? ""
        }
        return path.isEmpty ? "/" : String(path)
    }

    private static func text(_ bytes: Int) -> String {
        let units = [("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)]
        guard let (name, size) = units.first(where: { bytes >= $0.1 }) else { return "\(bytes) bytes" }
        return "\(bytes / size) \(name)"
    }
}
