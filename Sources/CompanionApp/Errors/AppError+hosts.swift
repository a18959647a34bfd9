package import CompanionClient
import CompanionWire
package import PairingAgent

extension AppError {
    package static let unsavedAdvice = "commit or save the work, or discard it with --force"
}

/// Whether an error means that a host cannot be reached now, so that what is known of it may be shown instead.
package func isOutOfReach(_ error: any Error) -> Bool {
    if let error = error as? CompanionClientError { return [.unreachable, .timedOut].contains(error.code) }
    return (error as? AppError)?.kind == .unreachable
}

extension CompanionClientError: DescribedError {
    package var described: AppError {
        if code == .alreadyDecided {
            return AppError(
                .failed,
                "approval.already_decided",
                hostText ?? message,
                next: "pairtool approvals"
            )
        }
        let (kind, next): (AppError.Kind, String?) =
            switch code {
            case .unreachable:
                (.unreachable, "check that the host is on and on this network: pairtool discover --probe")
            case .timedOut: (.timedOut, "try again, or check the host: pairtool status")
            case .refusedAddress: (.usage, "use an address on this machine, your network or your VPN")
            case .notACompanion, .redirected: (.unreachable, "pairtool discover --probe")
            case .notPaired: (.notPaired, "pairtool pair")
            case .hostSignedOut:
                (.hostUnavailable, "sign in to the assistant on the host, then run the command again")
            case .forbidden where hostCode == .permissionDenied:
                (
                    .permissionDenied,
                    "see this device's permissions: pairtool status"
                )
            case .forbidden where hostCode == .requestForbidden: (.permissionDenied, nil)
            case .forbidden where hostCode == .quotaExceeded:
                (.permissionDenied, "ask the host's owner to raise the limit: pairtool host --quota LIMIT")
            case .forbidden: (.permissionDenied, "pair again from this machine: pairtool pair")
            case .revoked: (.permissionDenied, "show a new code on the host, then: pairtool pair")
            case .sessionExpired: (.notPaired, "pairtool pair")
            case .superseded: (.notPaired, "show a new code on the host, then: pairtool pair")
            case .pinMismatch:
                (
                    .failed,
                    "check on the host whether it was set up again. If so: pairtool pair. If not, someone may be intercepting the connection"
                )
            case .unsupportedVersion: (.versionMismatch, Self.versionAdvice(hostVersions))
            case .badRequest where hostCode == .sessionUnsaved:
                (.failed, AppError.unsavedAdvice)
            case .busy: (.failed, "wait for the answer, or cancel it: pairtool chats cancel CHAT")
            case .streamInterrupted: (.streamInterrupted, "check whether the answer arrived: pairtool messages CHAT")
            case .hostError where hostCode?.isOfAgent == true:
                (.hostUnavailable, "see what it needs, at the host: pairtool host status")
            case .hostError: (.failed, nil)
            case .notFound: (.nothingFound, nil)
            default: (.failed, nil)
            }
        var own: [CompanionErrorCode] = [.changesUnavailable, .sessionUnsaved]
        // For other answers, the code is that of any host that is signed out.
        if code == .hostError { own += [.hostAgentUnavailable, .hostAgentSignIn] }
        let word = hostCode.flatMap { own.contains($0) ? $0.rawValue : nil } ?? "host.\(code)"
        return AppError(kind, word, description, next: advice ?? next)
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

    package var opensWithName: Bool { beginsWithName || code == .alreadyDecided }
}

extension PairingError: DescribedError {
    package var described: AppError {
        let newCode = "show a new code on the host, then: pairtool pair"
        return switch code {
        case .wrongCode:
            AppError(
                .wrongCode,
                "pairing.wrong_code",
                message,
                next: triesLeft == 0 ? newCode : advice ?? "check the digits, then: pairtool pair"
            )
        case .wrongToken: AppError(.wrongCode, "pairing.wrong_token", message, next: advice ?? newCode)
        case .expired: AppError(.pairingExpired, "pairing.expired", message, next: advice ?? newCode)
        case .noChallenge: AppError(.pairingExpired, "pairing.none_active", message, next: newCode)
        case .clockSkew:
            AppError(
                .pairingExpired,
                "pairing.clock_skew",
                message,
                next: "synchronise both clocks (timedatectl set-ntp true), then show a new code on the host"
            )
        case .unreachable:
            AppError(.unreachable, "pairing.unreachable", message, next: "pairtool discover --probe")
        case .wrongService:
            AppError(
                .unreachable,
                "pairing.wrong_service",
                message,
                next: "find the right port: pairtool discover --probe"
            )
        case .addressRefused: AppError(.usage, "pairing.address_refused", message)
        case .notConnected:
            AppError(
                .failed,
                "pairing.not_connected",
                message,
                next: "restart pairing on the host, then: pairtool pair"
            )
        case .foreignDevice:
            AppError(
                .failed,
                "pairing.foreign_device",
                message,
                next: "check that this is the host you mean: pairtool discover --probe"
            )
        case .verifiedHost:
            AppError(
                .legacyRefused,
                "pairing.verified_host",
                message,
                next: "if the host was set up again, forget the old one first: pairtool hosts forget ID"
            )
        case .locked:
            AppError(
                .pairingLocked,
                "pairing.locked",
                message,
                next: "scan the QR code (pairtool pair --qr FILE), or unlock the digits at the host: "
                    + "pairtool host unlock"
            )
        case .rateLimited:
            AppError(.failed, "pairing.rate_limited", message, next: "wait a minute, then try again")
        case .forbidden: AppError(.permissionDenied, "pairing.forbidden", message)
        case .otherVersion:
            AppError(.versionMismatch, "pairing.version", message, next: "update the older of the two")
        case .otherKey:
            AppError(
                .failed,
                "pairing.pin_mismatch",
                message,
                next: "show a new code on the host. If it happens again, someone may be intercepting the connection"
            )
        case .foreignHost:
            AppError(
                .failed,
                "pairing.foreign_host",
                message,
                next: "pairtool pair --qr FILE, without an address"
            )
        case .noToken: AppError(.usage, "pairing.no_code", message, next: advice)
        case .noPlainAddress: AppError(.usage, "pairing.no_tls", message, next: advice)
        case .unproven: AppError(.failed, "pairing.unproven", message, next: newCode)
        default: AppError(.failed, "pairing.rejected", message, next: newCode)
        }
    }
}
