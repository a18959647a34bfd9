internal import Glibc

/// Paths as the system resolves them: absolute, without symbolic links, `.` and `..`.
package enum RealPath {
    /// The real path of what is there. Blocks.
    ///
    /// - Parameter path: From the current directory, if it is not absolute.
    /// - Returns: nil, with the reason in `errno`, where nothing is there or may be looked at, and where the path has a
    ///   zero or the real one is not UTF-8: as text, either would be another path.
    package static func of(_ path: String) -> String? {
        guard !path.utf8.contains(0) else {
            errno = EINVAL
            return nil
        }
        guard let resolved = realpath(path, nil) else { return nil }
        defer { free(resolved) }
        let text = String(validatingCString: resolved)
        if text == nil { errno = EILSEQ }
        return text
    }

    /// Whether one real path is another or below it, by whole names.
    package static func isInside(_ path: String, of directory: String) -> Bool {
        let (path, directory) = (path.utf8, directory.utf8)
        guard path.starts(with: directory) else { return false }
        let rest = path.dropFirst(directory.count)
        return rest.isEmpty || rest.first == slash || directory.last == slash
    }

    private static let slash = UInt8(ascii: "/")
}
