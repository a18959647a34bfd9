import FoundationEssentials
import Glibc

/// A file system of its own, small enough to be really full.
struct SmallDisk: Sendable {
    /// Whether this process may mount one.
    static let isPossible = geteuid() == 0 && mayMount()

    /// Bytes that it has.
    private static let size = 8 << 20

    let directory: String
    private var filler: String { directory + "/filler" }

    /// Mounts a fresh disk, and removes it with everything on it.
    static func with<Result>(_ body: (SmallDisk) async throws -> Result) async throws -> Result {
        try await withTemporaryDirectory { directory in
            let path = directory + "/disk"
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
            guard mount("tmpfs", path, "tmpfs", 0, "size=\(size)") == 0 else { throw TestFailure("mount: \(errno)") }
            defer { umount2(path, Int32(MNT_DETACH)) }
            return try await body(SmallDisk(directory: path))
        }
    }

    private static func mayMount() -> Bool {
        let path = "\(FileManager.default.temporaryDirectory.path)/pairtool-mount-\(UUID().uuidString)"
        guard mkdir(path, 0o700) == 0 else { return false }
        defer { rmdir(path) }
        guard mount("tmpfs", path, "tmpfs", 0, "size=65536") == 0 else { return false }
        return umount2(path, Int32(MNT_DETACH)) == 0
    }

    /// Takes all the space that is left.
    func fill() throws {
        let file = Glibc.open(filler, O_WRONLY | O_CREAT | O_APPEND, 0o600)
        guard file >= 0 else { throw TestFailure("open: \(errno)") }
        defer { close(file) }
        let bytes = [UInt8](repeating: 1, count: 64 << 10)
        // The last one that finds space may be a part.
        while Glibc.write(file, bytes, bytes.count) > 0 {}
        let code = errno
        guard code == ENOSPC else { throw TestFailure("write: \(code)") }
    }

    /// Gives the space back.
    func free() throws {
        try removeFile(filler)
    }
}
