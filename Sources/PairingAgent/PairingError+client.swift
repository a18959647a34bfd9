internal import CompanionClient
internal import CompanionWire

extension PairingError {
    /// Converts the error of a pairing's request.
    package init(_ error: any Error) {
        guard let error = error as? CompanionClientError else {
            self = error as? PairingError ?? PairingError(.rejected, "\(error)")
            return
        }
        self =
            switch error.code {
            case .unreachable, .timedOut: PairingError(.unreachable, error.description)
            case .notACompanion, .redirected, .badAnswer: PairingError(.wrongService, error.description)
            case .refusedAddress: PairingError(.addressRefused, error.description)
            case .pinMismatch: PairingError(.otherKey, error.description)
            case .unsupportedVersion: .otherVersion(error.hostVersions)
            default: .refused(error)
            }
    }

    /// The host speaks only other versions of the protocol; nil if it does not tell which.
    static func otherVersion(_ versions: ClosedRange<Int>?) -> PairingError {
        PairingError(.otherVersion, versionText(versions))
    }

    private static func refused(_ error: CompanionClientError) -> PairingError {
        if let code = error.hostCode {
            return refused(code, text: error.hostText ?? "", triesLeft: error.triesLeft)
        }
        return PairingError(.rejected, error.hostText.map { "the host refused: \($0)" } ?? error.description)
    }

    private static func refused(_ code: CompanionErrorCode, text: String, triesLeft: Int?) -> PairingError {
        let left = triesLeft.map { $0 == 1 ? " (1 try left)" : " (\($0) tries left)" } ?? ""
        // A wrong code and an intercepted connection look the same: in both cases the two sides have different keys.
        let doubt = "If it keeps failing, someone may be intercepting the connection"
        return switch code {
        case .pairingWrongCode:
            PairingError(
                .wrongCode,
                triesLeft == 0
                    ? "wrong code. It was the last try: this code is no longer valid. \(doubt)"
                    : "wrong code\(left). \(doubt)",
                triesLeft: triesLeft
            )
        case .pairingWrongToken:
            PairingError(
                .wrongToken,
                "the host does not accept this QR code\(triesLeft == 0 ? ", and no other one from here for half a minute" : "")"
                    + ": it is from an older code. \(doubt)"
            )
        case .pairingExpired: PairingError(.expired, "the code has expired")
        case .pairingNotActive:
            PairingError(.noChallenge, "the host shows no pairing code at the moment, or this one was used already")
        case .pairingLocked:
            PairingError(.locked, "the six digits are locked after too many wrong tries; the QR code still works")
        case .pairingRateLimited:
            PairingError(.rateLimited, "the host refuses more tries from this address for now")
        case .permissionDenied, .requestForbidden:
            PairingError(.forbidden, "the host does not allow it: \(text)")
        default: PairingError(.rejected, "the host refused: \(text)")
        }
    }

    private static func versionText(_ versions: ClosedRange<Int>?) -> String {
        guard let versions else { return "the host speaks another version of the protocol" }
        let ours = "this pairtool speaks \(ProtocolVersion.minimum) to \(ProtocolVersion.maximum)"
        return versions.lowerBound == versions.upperBound
            ? "the host speaks version \(versions.lowerBound) of the protocol only; \(ours)"
            : "the host speaks versions \(versions.lowerBound) to \(versions.upperBound) of the protocol; \(ours)"
    }
}
