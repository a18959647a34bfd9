internal import Glibc

extension PrivateFile {
    /// Reads a whole record, or returns nil where there is none. One that others can have written is refused: it says
    /// which hosts are trusted, and what is sent to them.
    ///
    /// - Parameters:
    ///   - limit: The most bytes that it may have. Default: 16 MiB.
    ///   - isChecked: Whether it is refused. Default: true; false for looking whether it is damaged alone.
    /// - Throws: ``Failure``, with the way out where it is refused.
    package static func readRecord(
        _ path: String,
        limit: Int = 16 << 20,
        isChecked: Bool = true
    ) throws(Failure) -> [UInt8]? {
        // A pipe in its place must not hold anybody up.
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else {
            if errno == ENOENT { return nil }
            throw Failure(description: "\(path): \(systemMessage())")
        }
        defer { close(descriptor) }
        if isChecked { try checkWriters(of: descriptor, named: path) }
        return try content(of: descriptor, named: path, limit: limit)
    }

    private static func checkWriters(of descriptor: Int32, named path: String) throws(Failure) {
        guard let status = FileStatus(descriptor: descriptor), status.kind == .file else {
            throw Failure(description: "\(path) is not a file", remedy: "move it away: mv '\(path)' '\(path).moved'")
        }
        // What root writes is as good as this program.
        guard status.owner == geteuid() || status.owner == 0 else {
            throw Failure(
                description: "\(path) is not used: it belongs to another user",
                remedy: "check who put it there, then: chown $(id -u) '\(path)'"
            )
        }
        guard status.permissions & 0o022 == 0 else {
            throw Failure(
                description: "\(path) is not used: other users can change it",
                remedy: "if nobody else has changed it: chmod 600 '\(path)'; otherwise move it away and pair again"
            )
        }
    }
}
