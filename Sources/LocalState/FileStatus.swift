package import FoundationEssentials
internal import Glibc

/// The metadata of a file. It is defined here because in modules that import all of Foundation, `struct stat` comes
/// from different imports in different builds.
package struct FileStatus: Sendable, Hashable {
    /// The type of a file. Block devices count as `other`.
    package enum Kind: Sendable, Hashable {
        case file, directory, link, pipe, socket, characterDevice, other
    }

    /// The sort of file; links are not followed.
    package let kind: Kind
    /// The lowest nine bits of the mode.
    package let permissions: UInt32
    /// The owner's user id.
    package let owner: UInt32
    /// The owning group's id.
    package let group: UInt32
    /// In bytes.
    package let size: Int
    /// When its content was last changed.
    package let changedAt: Date
    /// When its content, its name or its metadata were last changed. Programs cannot set this time.
    package let statusChangedAt: Date
    /// Identifies the file among all files.
    private let identity: [UInt64]

    /// Whether both are the same file, under any name.
    package func isSameFile(as other: FileStatus) -> Bool { identity == other.identity }

    /// Whether both are in the same file system.
    package func isOnSameFileSystem(as other: FileStatus) -> Bool { identity[0] == other.identity[0] }

    /// The owning group's name; nil if the system does not know it.
    package var groupName: String? {
        getgrgid(group).flatMap { entry in entry.pointee.gr_name.map { String(cString: $0) } }
    }

    /// - Returns: nil if nothing exists there, or if it cannot be accessed.
    package init?(_ path: String, followingLinks: Bool = true) {
        self.init { followingLinks ? stat(path, &$0) : lstat(path, &$0) }
    }

    /// The status of an open file.
    package init?(descriptor: Int32) {
        self.init { fstat(descriptor, &$0) }
    }

    /// The status of an entry of an open directory; links are not followed.
    package init?(_ name: String, in directory: Int32) {
        self.init { fstatat(directory, name, &$0, AT_SYMLINK_NOFOLLOW) }
    }

    /// The status of an entry of an open directory whose name may not be UTF-8; links are not followed.
    ///
    /// - Parameter nameBytes: The name with its terminating zero.
    package init?(nameBytes: [CChar], in directory: Int32) {
        self.init { fstatat(directory, nameBytes, &$0, AT_SYMLINK_NOFOLLOW) }
    }

    private init?(_ ask: (inout stat) -> Int32) {
        var status = stat()
        guard ask(&status) == 0 else { return nil }
        kind =
            switch status.st_mode & S_IFMT {
            case S_IFDIR: .directory
            case S_IFREG: .file
            case S_IFLNK: .link
            case S_IFIFO: .pipe
            case S_IFSOCK: .socket
            case S_IFCHR: .characterDevice
            default: .other
            }
        permissions = UInt32(status.st_mode) & 0o777
        owner = UInt32(status.st_uid)
        group = UInt32(status.st_gid)
        size = Int(status.st_size)
        func date(_ time: timespec) -> Date {
            Date(timeIntervalSince1970: Double(time.tv_sec) + Double(time.tv_nsec) / 1_000_000_000)
        }
        changedAt = date(status.st_mtim)
        statusChangedAt = date(status.st_ctim)
        identity = [UInt64(status.st_dev), UInt64(status.st_ino)]
    }
}

/// The free space of a file system.
package enum DiskSpace {
    /// The bytes that this user can still write to the file system of a path; nil if the system does not tell.
    package static func free(at path: String) -> Int? {
        var status = statvfs()
        guard statvfs(path, &status) == 0 else { return nil }
        return Int(
            clamping: UInt64(status.f_bavail).multipliedReportingOverflow(by: UInt64(status.f_frsize)).partialValue
        )
    }
}
