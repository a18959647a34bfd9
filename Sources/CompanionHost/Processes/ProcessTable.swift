import Glibc
import SystemPackage

/// The processes of this machine, as `/proc` shows them (proc(5)).
struct ProcessTable: Sendable {
    struct Entry: Sendable, Hashable {
        var id: pid_t
        var parent: pid_t
        var group: pid_t
        var session: pid_t
        /// Clock ticks from the start of the machine to the process's own.
        var startedAt: UInt64
        /// Whether it has ended and waits for its parent.
        var isZombie: Bool
    }

    let entries: [Entry]

    /// The processes that there are now. Where there is no `/proc`, none.
    static func now() -> ProcessTable {
        guard let directory = opendir("/proc") else { return ProcessTable(entries: []) }
        defer { closedir(directory) }
        var entries: [Entry] = []
        while let item = readdir(directory) {
            let name = withUnsafeBytes(of: item.pointee.d_name) { Array($0.prefix { $0 != 0 }) }
            guard let id = pid_t(String(decoding: name, as: UTF8.self)), let entry = entry(id) else { continue }
            entries.append(entry)
        }
        return ProcessTable(entries: entries)
    }

    /// A process; nil for one that is not there any more.
    static func entry(_ id: pid_t) -> Entry? {
        parse(read("/proc/\(id)/stat", limit: 4096))
    }

    /// The name of a process's program, without the directory and up to 15 bytes; empty for one that has ended.
    static func name(of id: pid_t) -> [UInt8] {
        read("/proc/\(id)/comm", limit: 64)
    }

    /// The arguments of a process, the program first; none for one that has ended.
    static func arguments(of id: pid_t) -> [[UInt8]] {
        read("/proc/\(id)/cmdline", limit: 64 << 10).split(separator: 0).map(Array.init)
    }

    /// Reads a line of `/proc/PID/stat`. The second field is the program's name in parentheses, with any bytes in it.
    static func parse(_ line: [UInt8]) -> Entry? {
        guard let id = pid_t(String(decoding: line.prefix { $0 != UInt8(ascii: " ") }, as: UTF8.self)),
            let nameEnd = line.lastIndex(of: UInt8(ascii: ")"))
        else { return nil }
        // From the third field on: state, parent, group, session, … and, as the twenty-second, the start.
        let fields = line[(nameEnd + 1)...].split(separator: UInt8(ascii: " "), maxSplits: 20)
        guard fields.count > 19, let parent = number(fields[1]), let group = number(fields[2]),
            let session = number(fields[3]), let startedAt = number(fields[19])
        else { return nil }
        return Entry(
            id: id,
            parent: pid_t(clamping: parent),
            group: pid_t(clamping: group),
            session: pid_t(clamping: session),
            startedAt: startedAt,
            isZombie: fields[0].first == UInt8(ascii: "Z") || fields[0].first == UInt8(ascii: "X")
        )
    }

    private static func number(_ digits: ArraySlice<UInt8>) -> UInt64? {
        var value: UInt64 = 0
        for digit in digits {
            guard UInt8(ascii: "0")...UInt8(ascii: "9") ~= digit, value < .max / 10 - 1 else { return nil }
            value = value * 10 + UInt64(digit - UInt8(ascii: "0"))
        }
        return value
    }

    /// The environment of a process at the start of its program: entries `NAME=value`, each with a zero at its end.
    /// Empty if it may not be read.
    static func environment(of id: pid_t) -> [UInt8] {
        read("/proc/\(id)/environ", limit: 4 << 20)
    }

    /// The hard limit of file locks of a process; nil where that cannot be read, as of one that has ended.
    static func hardLimit(ofLocks id: pid_t) -> UInt64? {
        // `Max file locks            unlimited            unlimited            locks     `: what is limited, soft, hard, unit.
        let title = Array("Max file locks ".utf8)
        let lines = read("/proc/\(id)/limits", limit: 16 << 10).split(separator: UInt8(ascii: "\n"))
        guard let line = lines.first(where: { $0.starts(with: title) }) else { return nil }
        let fields = line.dropFirst(title.count).split(separator: UInt8(ascii: " "))
        guard fields.count >= 2 else { return nil }
        return fields[1].elementsEqual("unlimited".utf8) ? .max : UInt64(String(decoding: fields[1], as: UTF8.self))
    }

    private static func read(_ path: String, limit: Int) -> [UInt8] {
        guard let file = try? FileDescriptor.open(path, .readOnly, options: [.closeOnExec]) else { return [] }
        defer { try? file.close() }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 16 << 10)
        while bytes.count < limit,
            let count = try? chunk.withUnsafeMutableBytes({ try file.read(into: $0) }), count > 0
        {
            bytes += chunk[..<count]
        }
        return bytes
    }
}
