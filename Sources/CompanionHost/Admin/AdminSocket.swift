import CompanionWire
import Glibc
import LocalState
import NIOCore

/// The place of the admin socket: in a directory of mode 0700, held by one host at a time.
struct AdminSocket: ~Copyable {
    /// Bytes that the path of a socket may have (`struct sockaddr_un`, with the NUL at its end).
    static let maximumPathSize = 107

    let path: String
    private let lock: FileLock

    /// Takes the place: makes its directory, and removes a socket that a host left behind when it was killed.
    ///
    /// - Throws: ``AdminError/Code/anotherHost`` while another host has it; ``AdminError/Code/unusable``.
    init(path: String) throws(AdminError) {
        guard path.utf8.count <= Self.maximumPathSize else {
            throw AdminError(.unusable, "\(path) is over \(Self.maximumPathSize) bytes: set a shorter XDG_RUNTIME_DIR.")
        }
        let directory = path.cut(atLast: "/").map { String($0.before) } ?? "."
        try Self.secure(directory: directory)
        let lock: FileLock?
        do {
            lock = try FileLock.take(ifFree: path + ".lock")
        } catch {
            throw AdminError(.unusable, "\(path).lock cannot be opened: \(error.reason).")
        }
        guard let lock, !Self.answers(path) else {
            throw AdminError(.anotherHost, "Another host is running: it uses \(path).")
        }
        if unlink(path) != 0, errno != ENOENT {
            throw AdminError(.unusable, "\(path) cannot be replaced: \(PrivateFile.systemMessage()).")
        }
        self.path = path
        self.lock = lock
    }

    /// Lets only the owner in; the directory has kept others out so far.
    func restrict() throws(AdminError) {
        guard chmod(path, 0o600) == 0 else {
            throw AdminError(.unusable, "Cannot restrict access to \(path): \(PrivateFile.systemMessage()).")
        }
    }

    deinit {
        // The lock ends after this.
        unlink(path)
    }

    private static func secure(directory: String) throws(AdminError) {
        do {
            try PrivateFile.makeDirectory(directory)
        } catch {
            throw AdminError(.unusable, "The directory of the admin socket cannot be made: \(error).")
        }
        guard let status = FileStatus(directory, followingLinks: false), status.kind == .directory,
            status.owner == geteuid(), status.permissions & 0o077 == 0
        else {
            throw AdminError(
                .unusable,
                "\(directory) is not a directory that only you can enter: chmod 700 '\(directory)', or remove it."
            )
        }
    }

    /// Whether a process listens there.
    private static func answers(_ path: String) -> Bool {
        guard let address = try? SocketAddress(unixDomainSocketPath: path) else { return false }
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        return address.withSockAddr { connect(descriptor, $0, socklen_t($1)) } == 0
    }
}
