import CompanionWire
import FoundationEssentials
import Glibc
import LocalState
import SystemPackage

/// The places below the home directory that a program needs to run: those of the links that lead to it and to the files
/// among its arguments, of the interpreter that a first line names, and the folders of `PATH`.
struct BoxedProgram: Sendable {
    /// Links that are followed, and interpreters of interpreters.
    private static let mostLinks = 16

    /// The program's absolute path, and its arguments.
    let command: [String]
    let home: String
    /// Directories that the agent may write: what it has put there leads nowhere.
    let writable: [String]

    /// Directories and files, without those that another one contains.
    var places: [String] {
        var files: [String] = []
        // A script that an interpreter is given counts as a program.
        for (index, word) in command.enumerated() where word.begins(with: "/") {
            if index == 0 || FileStatus(word)?.kind == .file { collect(word, into: &files) }
        }
        files += AgentProgram.searchPath.parts(":").map { "\($0)/-" }
        let found = files.compactMap(place(of:)).unique.filter { FileStatus($0) != nil }
        return found.filter { place in
            !found.contains { !$0.isSame(as: place) && RealPath.isInside(place, of: $0) }
        }
    }

    private func collect(_ path: String, into files: inout [String]) {
        guard files.count < Self.mostLinks, !files.contains(where: { $0.isSame(as: path) }) else { return }
        files.append(path)
        let name = Self.normal(path)
        guard !writable.contains(where: { RealPath.isInside(name, of: $0) }) else { return }
        if let target = try? FileManager.default.destinationOfSymbolicLink(atPath: path) {
            let directory = path.cut(atLast: "/")?.before ?? ""
            // Links of the directories above are resolved by the kernel.
            collect(target.begins(with: "/") ? target : "\(directory)/\(target)", into: &files)
        } else if let interpreter = Self.interpreter(of: path) {
            collect(interpreter, into: &files)
        }
        if let real = RealPath.of(path), !files.contains(where: { $0.isSame(as: real) }) {
            collect(real, into: &files)
        }
    }

    /// The program that runs a script; nil for what is no script.
    private static func interpreter(of path: String) -> String? {
        guard FileStatus(path)?.kind == .file,
            let descriptor = try? FileDescriptor.open(FilePath(path), .readOnly, options: .closeOnExec)
        else { return nil }
        defer { try? descriptor.close() }
        let bytes = [UInt8](unsafeUninitializedCapacity: 256) { buffer, count in
            count = (try? descriptor.read(into: UnsafeMutableRawBufferPointer(buffer))) ?? 0
        }
        guard bytes.starts(with: "#!".utf8) else { return nil }
        let line = String(decoding: bytes.dropFirst(2).prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
        return line.parts(" ").first { !$0.isEmpty }.map(String.init)
    }

    /// The part of the home directory that a file needs: the directory of all of a program's files where it is known by
    /// its form, else the file's own; nil for a file outside the home directory.
    private func place(of file: String) -> String? {
        guard let relative = Self.normal(file).dropping(prefix: home + "/") else { return nil }
        let parts = relative.parts("/").map(String.init)
        func place(_ count: Int) -> String { ([home] + parts.prefix(count)).joined(separator: "/") }
        if let modules = parts.firstIndex(where: { $0.isSame(as: "node_modules") }) { return place(modules + 1) }
        guard parts.count > 1 else { return place(1) }
        // Of a toolchain, as of Node or Python; not `~/.local`, which has data of all programs, nor `~/.cargo`.
        let isToolchain =
            parts.count > 2 && parts[parts.count - 2].isSame(as: "bin")
            && !(parts.count == 3 && parts[0].isSame(as: ".local"))
            && FileStatus(place(parts.count - 2) + "/lib")?.kind == .directory
        return place(parts.count - (isToolchain ? 2 : 1))
    }

    /// A path without `.` and `..`, as text.
    private static func normal(_ path: String) -> String {
        var parts: [Substring] = []
        for part in path.parts("/") where !part.isEmpty && !part.isSame(as: ".") {
            if part.isSame(as: "..") { _ = parts.popLast() } else { parts.append(part) }
        }
        return "/" + parts.joined(separator: "/")
    }
}
