/// The exit codes of the tool, stable for scripts.
enum ExitStatus: Int32, Sendable {
    case done = 0
    case failed = 1
    case usage = 2
    case nothingFound = 3
    case timedOut = 4
    case notPaired = 5
    case wrongCode = 6
    case pairingExpired = 7
    case pairingLocked = 8
    case permissionDenied = 9
    case unreachable = 10
    case hostUnavailable = 11
    case versionMismatch = 12
    case legacyRefused = 13
    case streamInterrupted = 14
    /// Ended by SIGINT; for other signals see ``number(endedBy:)``.
    case interrupted = 130

    /// The exit code of the process.
    ///
    /// - Parameter signal: The signal that interrupted it. As in a shell, the exit code is then 128 plus its number.
    func number(endedBy signal: Int32) -> Int32 { self == .interrupted ? 128 + signal : rawValue }
}

/// Ends a command with a status, without another message.
struct ExitRequest: Error {
    var status: ExitStatus
}
