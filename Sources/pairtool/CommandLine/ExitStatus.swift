import CompanionApp
import Glibc
import PairingAgent
import Terminal

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
    /// By SIGINT, SIGTERM or SIGHUP.
    case interrupted = 130
}

extension ExitStatus {
    /// The status of a command that an error has ended.
    init(_ kind: AppError.Kind) {
        self =
            switch kind {
            case .emptyList: .done
            case .failed: .failed
            case .usage: .usage
            case .nothingFound: .nothingFound
            case .timedOut: .timedOut
            case .notPaired: .notPaired
            case .wrongCode: .wrongCode
            case .pairingExpired: .pairingExpired
            case .pairingLocked: .pairingLocked
            case .permissionDenied: .permissionDenied
            case .unreachable: .unreachable
            case .hostUnavailable: .hostUnavailable
            case .versionMismatch: .versionMismatch
            case .legacyRefused: .legacyRefused
            case .streamInterrupted: .streamInterrupted
            case .interrupted: .interrupted
            }
    }
}

/// Ends a command with a status, without another message.
struct ExitRequest: Error {
    var status: ExitStatus

    init(_ status: ExitStatus) { self.status = status }

    init(_ kind: AppError.Kind) { status = ExitStatus(kind) }
}

extension ExitCleanup {
    /// Ends the process without a tidy end.
    static func exit(_ status: ExitStatus) -> Never {
        prepare()
        _exit(status.rawValue)
    }
}
