import CommandCore

extension CommandContext {
    /// The bytes of a file, or of standard input, without blocking the thread.
    ///
    /// - Parameter file: A path, or `-`.
    /// - Returns: Nil where there is no such file, or more than `limit` bytes.
    func content(of file: String = "-", limit: Int) async throws -> [UInt8]? {
        try await BlockingCall.run { try content(of: file, limit: limit) }
    }
}
