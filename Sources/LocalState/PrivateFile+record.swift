internal import Glibc

extension PrivateFile {
    /// Reads a whole record file. Returns nil if it does not exist. A file that other users may have written is
    /// refused: such files decide what is trusted, and what is sent.
    ///
    /// - Parameters:
    ///   - limit: The largest size in bytes. Default: 16 MiB.
    ///   - isChecked: Whether such a file is refused. Default: true; false only to check whether the file is damaged.
    /// - Throws: ``Failure``, with a remedy if the file is refused.
    package static func readRecord(
        _ path: String,
        limit: Int = 16 << 20,
        isChecked: Bool = true
    ) throws(Failure) -> [UInt8]? {
        // Opening a pipe must not block.
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else {
            if errno == ENOENT { return nil }
            throw Failure(path, reason: systemMessage())
        }
        defer { close(descriptor) }
        if isChecked { try checkWriters(of: descriptor, named: path) }
        return try content(of: descriptor, named: path, limit: limit)
    }

    private static func checkWriters(of descriptor: Int32, named path: String) throws(Failure) {
        guard let status = FileStatus(descriptor: descriptor), status.kind == .file else {
            throw Failure(description: "\(path) is not a file", remedy: "move it away: mv '\(path)' '\(path).moved'")
        }
        // Root could also replace this program, so a file of root's is trusted.
        guard status.owner == geteuid() || status.owner == 0 else {
            throw Failure(
                description: "\(path) is not used: it belongs to another user",
                remedy: "check who put it there, then: chown $(id -u) '\(path)'"
            )
        }
        guard status.permissions & 0o022 == 0 else {
            throw Failure(
                description: "\(path) is not used: other users can change it",
                remedy:
                    "if nobody else has changed it: chmod 600 '\(path)'; otherwise move it away: mv '\(path)' '\(path).moved'"
            )
        }
    }
}
