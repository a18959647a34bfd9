import Glibc
import Identity
import LocalState

/// Checks the files of a host besides its own key, without changing them.
package enum HostFiles {
    /// The first bytes of every SQLite database (its file format, section 1.3). A database that was never written to is
    /// empty.
    private static let databaseMark = Array("SQLite format 3\0".utf8)

    /// Returns the paths of the damaged files in the host's directory: `host.sqlite` and the certificate. Files that do
    /// not exist are not damaged.
    package static func damaged(in directory: String) -> [String] {
        let certificate = "\(directory)/\(HostCertificate.fileName)"
        let database = "\(directory)/host.sqlite"
        return [(certificate, isCertificate), (database, isDatabase)].filter { path, isWhole in
            FileStatus(path)?.kind == .file && !isWhole(path)
        }.map(\.0)
    }

    private static func isCertificate(_ path: String) -> Bool {
        guard let bytes = try? PrivateFile.read(path, limit: 16 << 10) else { return false }
        return (try? HostCertificate(pem: String(decoding: bytes, as: UTF8.self), path: path)) != nil
    }

    private static func isDatabase(_ path: String) -> Bool {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        var start = [UInt8](repeating: 0, count: databaseMark.count)
        let count = read(descriptor, &start, start.count)
        return count == 0 || count == start.count && start == databaseMark
    }
}
