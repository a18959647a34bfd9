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
    /// By SIGINT; ``number(endedBy:)`` has other signals.
    case interrupted = 130

    /// The number that the program ends with.
    ///
    /// - Parameter signal: What interrupted it: as in a shell, it is added to 128.
    func number(endedBy signal: Int32) -> Int32 { self == .interrupted ? 128 + signal : rawValue }
}

/// Ends a command with a status, without another message.
struct ExitRequest: Error {
    var status: ExitStatus
}
