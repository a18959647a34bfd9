import CompanionClient
import CompanionHost
import CompanionWire
import Desktop
import Discovery
import Identity
import PairingAgent

extension CommandError {
    private static let unsavedAdvice = "commit or save the work, or discard it with --force"

    static func client(_ error: CompanionClientError) -> CommandError {
        if error.code == .alreadyDecided {
            return CommandError(
                .failed,
                "approval.already_decided",
                error.hostText ?? error.message,
                next: "pairtool approvals"
            )
        }
        let (status, next): (ExitStatus, String?) =
            switch error.code {
            case .unreachable:
                (.unreachable, "check that the host is on and on this network: pairtool discover --probe")
            case .timedOut: (.timedOut, "try again, or look at the host: pairtool status")
            case .refusedAddress: (.usage, "use an address on this machine, your network or your VPN")
            case .notACompanion, .redirected: (.unreachable, "pairtool discover --probe")
            case .notPaired: (.notPaired, "pairtool pair")
            case .hostSignedOut:
                (.hostUnavailable, "sign in to the assistant on the host, then run the command again")
            case .forbidden where error.hostCode == .permissionDenied:
                (
                    .permissionDenied,
                    "see your permissions: pairtool status. On the host: pairtool host permissions DEVICE --add PERMISSION"
                )
            case .forbidden where error.hostCode == .requestForbidden: (.permissionDenied, nil)
            case .forbidden where error.hostCode == .quotaExceeded:
                (.permissionDenied, "ask the host's owner, who starts it with: pairtool host --quota LIMIT")
            case .forbidden: (.permissionDenied, "pair again from this machine: pairtool pair")
            case .revoked: (.permissionDenied, "show a new code on the host, then: pairtool pair")
            case .sessionExpired: (.notPaired, "pairtool pair")
            case .superseded: (.notPaired, "show a new code on the host, then: pairtool pair")
            case .pinMismatch:
                (
                    .failed,
                    "check on the host whether it was set up again. If so: pairtool pair. If not, someone may be intercepting the connection"
                )
            case .unsupportedVersion: (.versionMismatch, versionAdvice(error.hostVersions))
            case .badRequest where error.hostCode == .sessionUnsaved:
                (.failed, unsavedAdvice)
            case .busy: (.failed, "wait for the answer, or cancel it: pairtool cancel CHAT")
            case .streamInterrupted: (.streamInterrupted, "check whether the answer arrived: pairtool messages CHAT")
            case .hostError where error.hostCode == .hostAgentUnavailable:
                (.hostUnavailable, "see what it needs, at the host: pairtool host status")
            case .hostError: (.failed, nil)
            case .notFound: (.nothingFound, nil)
            default: (.failed, nil)
            }
        var own: [CompanionErrorCode] = [.changesUnavailable, .sessionUnsaved]
        // For other answers, the code is that of any host that is signed out.
        if error.code == .hostError { own.append(.hostAgentUnavailable) }
        let code = error.hostCode.flatMap { own.contains($0) ? $0.rawValue : nil } ?? "host.\(error.code)"
        return CommandError(status, code, error.description, next: error.advice ?? next)
    }

    /// Advice about a host that speaks other versions of the protocol.
    ///
    /// - Parameter versions: The versions that it speaks; nil if it does not tell.
    private static func versionAdvice(_ versions: ClosedRange<Int>?) -> String {
        guard let versions else { return "update pairtool, or the host's program" }
        if versions.lowerBound > ProtocolVersion.maximum { return "update pairtool" }
        return versions.contains(ProtocolVersion.maximum)
            ? "pair again as a verified host: pairtool pair" : "update the host's program"
    }

    static func pairing(_ error: PairingError) -> CommandError {
        let newCode = "show a new code on the host, then: pairtool pair"
        return switch error.code {
        case .wrongCode:
            CommandError(
                .wrongCode,
                "pairing.wrong_code",
                error.message,
                next: error.triesLeft == 0 ? newCode : error.advice ?? "check the digits, then: pairtool pair"
            )
        case .wrongToken: CommandError(.wrongCode, "pairing.wrong_token", error.message, next: error.advice ?? newCode)
        case .expired: CommandError(.pairingExpired, "pairing.expired", error.message, next: error.advice ?? newCode)
        case .noChallenge: CommandError(.pairingExpired, "pairing.none_active", error.message, next: newCode)
        case .clockSkew:
            CommandError(
                .pairingExpired,
                "pairing.clock_skew",
                error.message,
                next: "synchronise both clocks (timedatectl set-ntp true), then show a new code on the host"
            )
        case .unreachable:
            CommandError(.unreachable, "pairing.unreachable", error.message, next: "pairtool discover --probe")
        case .wrongService:
            CommandError(
                .unreachable,
                "pairing.wrong_service",
                error.message,
                next: "find the right port: pairtool discover --probe"
            )
        case .addressRefused: CommandError(.usage, "pairing.address_refused", error.message)
        case .notConnected:
            CommandError(
                .failed,
                "pairing.not_connected",
                error.message,
                next: "restart pairing on the host, then: pairtool pair"
            )
        case .foreignDevice:
            CommandError(
                .failed,
                "pairing.foreign_device",
                error.message,
                next: "check that this is the host you mean: pairtool discover --probe"
            )
        case .verifiedHost:
            CommandError(
                .legacyRefused,
                "pairing.verified_host",
                error.message,
                next: "if the host was set up again, forget the old one first: pairtool hosts forget ID"
            )
        case .locked:
            CommandError(
                .pairingLocked,
                "pairing.locked",
                error.message,
                next: "scan the QR code (pairtool pair --qr FILE), or unlock the digits at the host: "
                    + "pairtool host unlock"
            )
        case .rateLimited:
            CommandError(.failed, "pairing.rate_limited", error.message, next: "wait a minute, then try again")
        case .forbidden: CommandError(.permissionDenied, "pairing.forbidden", error.message)
        case .otherVersion:
            CommandError(.versionMismatch, "pairing.version", error.message, next: "update the older of the two")
        case .otherKey:
            CommandError(
                .failed,
                "pairing.pin_mismatch",
                error.message,
                next: "show a new code on the host. If it happens again, someone may be intercepting the connection"
            )
        case .foreignHost:
            CommandError(
                .failed,
                "pairing.foreign_host",
                error.message,
                next: "pairtool pair --qr FILE, without an address"
            )
        case .noToken: CommandError(.usage, "pairing.no_code", error.message, next: error.advice)
        case .noPlainAddress: CommandError(.usage, "pairing.no_tls", error.message, next: error.advice)
        case .unproven: CommandError(.failed, "pairing.unproven", error.message, next: newCode)
        default: CommandError(.failed, "pairing.rejected", error.message, next: newCode)
        }
    }

    static func desktop(_ error: DesktopError) -> CommandError {
        let status: ExitStatus =
            switch error.code {
            case .noDirectory, .empty: .nothingFound
            case .refused: .permissionDenied
            default: .failed
            }
        return CommandError(status, "desktop.\(error.code)", error.message, next: error.remedy)
    }

    static func host(_ error: CompanionHostError) -> CommandError {
        switch error.code {
        case .invalidProject:
            CommandError(.nothingFound, "host.\(error.code)", error.message, next: "pairtool host --project DIR")
        case .agentNotFound: CommandError(.hostUnavailable, "host.\(error.code)", error.message)
        case .databaseInUse:
            CommandError(
                .failed,
                "host.\(error.code)",
                "another host of yours is running; a user can run only one host at a time",
                next: "end the other one, or give this one its own XDG_DATA_HOME"
            )
        case .portInUse, .databaseDamaged:
            CommandError(.failed, "host.\(error.code)", error.message, next: error.remedy)
        default: CommandError(.failed, "host.\(error.code)", error.description)
        }
    }

    static func admin(_ error: AdminError) -> CommandError {
        switch error.code {
        case .anotherHost:
            CommandError(
                .failed,
                "host.\(error.code)",
                error.message,
                next: "end the other one (pairtool host status), or give this one its own XDG_RUNTIME_DIR"
            )
        case .notRunning: CommandError(.unreachable, "host.\(error.code)", error.message, next: "pairtool host")
        case .notAllowed: CommandError(.permissionDenied, "host.\(error.code)", error.message)
        case .badAnswer:
            CommandError(
                .versionMismatch,
                "host.\(error.code)",
                error.message,
                next: "end the host and start it with this pairtool"
            )
        case .refused: refused(error)
        default: CommandError(.failed, "host.\(error.code)", error.message)
        }
    }

    private static func refused(_ error: AdminError) -> CommandError {
        let (status, next): (ExitStatus, String?) =
            switch error.reason {
            case .pairingLocked?: (.pairingLocked, "pairtool host unlock")
            case .deviceUnknown?: (.nothingFound, "pairtool host devices")
            case .ruleUnknown?: (.nothingFound, "pairtool host rules")
            case .approvalUnknown?: (.nothingFound, "pairtool host approvals")
            case .changesUnavailable?: (.failed, "see where agents work: pairtool host sessions")
            case .sessionUnsaved?: (.failed, unsavedAdvice)
            case .approvalDecided?: (.failed, "pairtool host approvals list --all")
            case .versionUnsupported?: (.versionMismatch, "end the host and start it with this pairtool")
            case .hostStorageFailed?: (.failed, "free some space on its disk, then run the command again")
            default: (.failed, nil)
            }
        return CommandError(status, error.reason?.rawValue ?? "host.refused", error.message, next: next)
    }
}
