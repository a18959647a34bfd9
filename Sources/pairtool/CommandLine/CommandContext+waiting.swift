extension CommandContext {
    /// The bytes of a file, or of standard input, without blocking the thread.
    ///
    /// - Parameter file: A path, or `-`.
    /// - Returns: Nil if there are more than `limit` bytes.
    /// - Throws: ``CommandError`` where a file cannot be read.
    func content(of file: String = "-", limit: Int) async throws -> [UInt8]? {
        try await BlockingCall.run { try content(of: file, limit: limit) }
    }
}
