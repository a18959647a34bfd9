import Glibc
import LocalState

/// The processes of this machine that have a socket, as `/proc/PID/fd` shows them (proc_pid_fd(5)).
struct SocketHolders: Sendable {
    /// The processes that have the socket.
    private(set) var known: [ProcessTable.Entry] = []
    /// The processes that do not show their open files, as pairtool's own do not. One of them may have the socket.
    private(set) var hidden: [ProcessTable.Entry] = []

    /// Looks at all processes. Blocks.
    init(of inode: UInt32) {
        let name = "socket:[\(inode)]".utf8.map { CChar(bitPattern: $0) }
        for process in ProcessTable.now().entries where !process.isZombie {
            switch Self.has(process.id, name: name) {
            case true?: known.append(process)
            case false?: break
            case nil: hidden.append(process)
            }
        }
    }

    /// The user of a process; nil for one that has ended.
    static func user(of process: ProcessTable.Entry) -> UInt32? { user(of: process.id) }

    /// The user of a process; nil for one that has ended.
    static func user(of process: pid_t) -> UInt32? {
        FileStatus("/proc/\(process)")?.owner
    }

    /// Whether a process has an open file of this name; nil if it does not show its files.
    private static func has(_ process: pid_t, name: [CChar]) -> Bool? {
        guard let directory = opendir("/proc/\(process)/fd") else { return errno == ENOENT ? false : nil }
        defer { closedir(directory) }
        let target = UnsafeMutableBufferPointer<CChar>.allocate(capacity: name.count + 1)
        defer { target.deallocate() }
        guard let start = target.baseAddress else { return nil }
        while let item = readdir(directory) {
            let count = withUnsafePointer(to: &item.pointee.d_name) { pointer in
                pointer.withMemoryRebound(to: CChar.self, capacity: 256) { file in
                    readlinkat(dirfd(directory), file, start, target.count)
                }
            }
            if count == name.count, name.elementsEqual(target.prefix(count)) { return true }
            if count < 0, errno == EACCES || errno == EPERM { return nil }
        }
        return false
    }
}
