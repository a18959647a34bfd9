import CLinux
import Glibc

/// Opens files and directories below one directory, and nothing else.
///
/// The kernel keeps to that: `openat2` with `RESOLVE_BENEATH` and `RESOLVE_NO_MAGICLINKS` (Linux 5.6). It follows
/// symbolic links that stay below the directory. Where the call is missing, or a seccomp filter forbids it, the path is
/// walked name by name with `O_NOFOLLOW`: then no link is followed.
final class ProjectRoot {
    /// The way in which paths are resolved, so that none leads out of the directory.
    enum PathResolution: Sendable, CaseIterable {
        case kernel, byName

        /// The kernel where it can.
        static let usual: PathResolution = {
            let root = Glibc.open("/", ProjectRoot.lookOnly | O_DIRECTORY | O_CLOEXEC)
            defer { close(root) }
            let file = pairtool_open_beneath(root, ".", ProjectRoot.lookOnly | O_DIRECTORY)
            guard file >= 0 else { return .byName }
            close(file)
            return .kernel
        }()
    }

    /// Why something was not opened.
    struct Failure: Error {
        /// A value of `errno`: EXDEV for a path that leads out, EINVAL for a name that cannot be one.
        var code: Int32
    }

    /// `O_PATH`: for a descriptor that shows the status of a file, and cannot be read.
    static let lookOnly = pairtool_o_path

    let descriptor: Int32
    private let resolution: PathResolution

    /// - Parameter path: Absolute, without symbolic links.
    init(path: String, by resolution: PathResolution = .usual) throws(Failure) {
        descriptor = Glibc.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW)
        self.resolution = resolution
        guard descriptor >= 0 else { throw Failure(code: errno) }
    }

    deinit {
        if descriptor >= 0 { close(descriptor) }
    }

    /// Opens a file or a directory.
    ///
    /// - Parameters:
    ///   - names: The names of its path; none for the directory itself.
    ///   - flags: As of `open`, for reading. With ``lookOnly``, and without the kernel's help, a link itself is opened.
    /// - Returns: A descriptor that the caller closes.
    func open(_ names: some Collection<String>, flags: Int32) throws(Failure) -> Int32 {
        guard names.allSatisfy(Self.isName) else { throw Failure(code: EINVAL) }
        switch resolution {
        case .kernel: return try openBeneath(names.isEmpty ? "." : names.joined(separator: "/"), flags: flags)
        case .byName: return try walk(Array(names), flags: flags)
        }
    }

    /// Whether a directory can have an entry of this name: never `.` and `..`, and nothing with a slash, whatever
    /// stands beside it.
    static func isName(_ name: String) -> Bool {
        let bytes = name.utf8
        return !bytes.isEmpty && !bytes.contains(0) && !bytes.contains(UInt8(ascii: "/"))
            && !bytes.elementsEqual(".".utf8) && !bytes.elementsEqual("..".utf8)
    }

    private func openBeneath(_ path: String, flags: Int32) throws(Failure) -> Int32 {
        // The kernel gives up with EAGAIN when something was renamed while it looked.
        for _ in 0..<100 {
            let file = pairtool_open_beneath(descriptor, path, flags)
            if file >= 0 { return file }
            guard errno == EAGAIN || errno == EINTR else { break }
        }
        throw Failure(code: errno)
    }

    private func walk(_ names: [String], flags: Int32) throws(Failure) -> Int32 {
        guard let last = names.last else { return try openEntry(".", in: descriptor, flags: flags) }
        var current = try openEntry(".", in: descriptor, flags: Self.lookOnly | O_DIRECTORY)
        defer { close(current) }
        for name in names.dropLast() {
            let next = try openEntry(name, in: current, flags: Self.lookOnly | O_DIRECTORY)
            close(current)
            current = next
        }
        return try openEntry(last, in: current, flags: flags)
    }

    private func openEntry(_ name: String, in directory: Int32, flags: Int32) throws(Failure) -> Int32 {
        let file = openat(directory, name, flags | O_CLOEXEC | O_NOFOLLOW)
        guard file >= 0 else { throw Failure(code: errno) }
        return file
    }
}
