import CompanionApp
package import CompanionHost
import CompanionWire
package import PairingAgent

extension CompanionHostError: DescribedError {
    package var described: AppError {
        switch code {
        case .invalidProject:
            AppError(.nothingFound, "host.\(code)", message, next: "pairtool host --project DIR")
        case .agentNotFound: AppError(.hostUnavailable, "host.\(code)", message)
        case .databaseInUse:
            AppError(
                .failed,
                "host.\(code)",
                "another host of yours is running; a user can run only one host at a time",
                next: "end the other one, or give this one its own XDG_DATA_HOME"
            )
        case .portInUse, .databaseDamaged:
            AppError(.failed, "host.\(code)", message, next: remedy)
        default: AppError(.failed, "host.\(code)", description)
        }
    }
}

extension AdminError: DescribedError {
    package var opensWithName: Bool { reason == .approvalDecided }

    package var described: AppError {
        switch code {
        case .anotherHost:
            AppError(
                .failed,
                "host.\(code)",
                message,
                next: "end the other one (pairtool host status), or give this one its own XDG_RUNTIME_DIR"
            )
        case .notRunning: AppError(.unreachable, "host.\(code)", message, next: "pairtool host")
        case .notAllowed: AppError(.permissionDenied, "host.\(code)", message)
        case .badAnswer:
            AppError(
                .versionMismatch,
                "host.\(code)",
                message,
                next: "end the host and start it with this pairtool"
            )
        case .refused: refusal
        default: AppError(.failed, "host.\(code)", message)
        }
    }

    private var refusal: AppError {
        let (kind, next): (AppError.Kind, String?) =
            switch reason {
            case .pairingLocked?: (.pairingLocked, "pairtool host unlock")
            case .deviceUnknown?: (.nothingFound, "pairtool host devices")
            case .ruleUnknown?: (.nothingFound, "pairtool host rules")
            case .approvalUnknown?: (.nothingFound, "pairtool host approvals")
            case .changesUnavailable?: (.failed, "see where agents work: pairtool host worktrees")
            case .sessionUnsaved?: (.failed, AppError.unsavedAdvice)
            case .approvalDecided?: (.failed, "pairtool host approvals list --all")
            case .versionUnsupported?: (.versionMismatch, "end the host and start it with this pairtool")
            case .hostStorageFailed?: (.failed, "free some space on its disk, then run the command again")
            default: (.failed, nil)
            }
        return AppError(kind, reason?.rawValue ?? "host.refused", message, next: next)
    }
}
