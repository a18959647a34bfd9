import Glibc

/// The events of a directory from inotify (inotify(7)).
struct InotifyEvents {
    /// The changes of the files in it.
    var changes: [WatchedFiles.Change] = []
    /// More happened than the system could remember.
    var hasOverflowed = false
    /// The directory itself is gone, or another one by now.
    var hasEnded = false

    /// The events to subscribe to.
    static let mask = UInt32(
        IN_CREATE | IN_MODIFY | IN_CLOSE_WRITE | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE | IN_DELETE_SELF | IN_MOVE_SELF
            | IN_ONLYDIR
    )

    /// The bytes before an event's name: watch, mask, cookie and the length of the name, 32 bits each.
    private static let headerSize = 16

    /// Reads events as the system gave them; what is cut off is left out.
    init(_ bytes: UnsafeRawBufferPointer) {
        var start = 0
        while start + Self.headerSize <= bytes.count {
            let mask = bytes.loadUnaligned(fromByteOffset: start + 4, as: UInt32.self)
            let length = Int(bytes.loadUnaligned(fromByteOffset: start + 12, as: UInt32.self))
            let nameStart = start + Self.headerSize
            guard length <= bytes.count - nameStart else { return }
            // Zeros fill it up.
            let name = bytes[nameStart..<nameStart + length].prefix { $0 != 0 }
            take(Int32(bitPattern: mask), name: String(decoding: name, as: UTF8.self))
            start = nameStart + length
        }
    }

    private mutating func take(_ mask: Int32, name: String) {
        if mask & IN_Q_OVERFLOW != 0 { hasOverflowed = true }
        if mask & (IN_DELETE_SELF | IN_MOVE_SELF | IN_UNMOUNT | IN_IGNORED) != 0 { hasEnded = true }
        guard !name.isEmpty, mask & Self.directoryMark == 0 else { return }
        if mask & IN_CREATE != 0 { changes.append(.created(name)) }
        if mask & IN_MODIFY != 0 { changes.append(.written(name)) }
        if mask & IN_CLOSE_WRITE != 0 { changes.append(.closed(name)) }
        if mask & IN_MOVED_TO != 0 { changes.append(.renamedIntoPlace(name)) }
        if mask & (IN_MOVED_FROM | IN_DELETE) != 0 { changes.append(.gone(name)) }
    }

    /// `IN_ISDIR`: it is a directory in the directory.
    private static let directoryMark: Int32 = 0x4000_0000
}
