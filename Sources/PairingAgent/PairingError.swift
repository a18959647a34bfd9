internal import CompanionClient
internal import CompanionWire
internal import FoundationEssentials

/// Why a pairing failed.
package struct PairingError: Error, Sendable, CustomStringConvertible {
    package struct Code: Sendable, Hashable {
        private enum Value: Sendable {
            case wrongCode, wrongToken, expired, noChallenge, clockSkew, unreachable, wrongService, addressRefused
            case notConnected, foreignDevice, rejected, verifiedHost
            case locked, rateLimited, forbidden, otherVersion, otherKey, foreignHost, unproven
            case noToken, noPlainAddress
        }
        private let value: Value

        /// The host does not accept the six digits.
        package static let wrongCode = Code(value: .wrongCode)
        /// The host does not accept the token: of a QR code, or of an AICLI server or Jarvis daemon.
        package static let wrongToken = Code(value: .wrongToken)
        /// The code has expired, or the host shows a newer one.
        package static let expired = Code(value: .expired)
        /// The host shows no code now.
        package static let noChallenge = Code(value: .noChallenge)
        /// The code has expired by the host's clock, which differs from this machine's.
        package static let clockSkew = Code(value: .clockSkew)
        /// No address of the host is known, or none answers.
        package static let unreachable = Code(value: .unreachable)
        /// Something other than a companion host answers there.
        package static let wrongService = Code(value: .wrongService)
        /// pairtool does not connect to the address, because it is not a local one.
        package static let addressRefused = Code(value: .addressRefused)
        /// The host accepted the code, but its answer says `connected: false`.
        package static let notConnected = Code(value: .notConnected)
        /// The host connected a device other than this one.
        package static let foreignDevice = Code(value: .foreignDevice)
        /// The host refused for another reason.
        package static let rejected = Code(value: .rejected)
        /// A host that was verified before may not be paired without proof.
        package static let verifiedHost = Code(value: .verifiedHost)
        /// The host accepts no digits until its owner unlocks pairing.
        package static let locked = Code(value: .locked)
        /// Too many tries in a short time.
        package static let rateLimited = Code(value: .rateLimited)
        /// The host does not allow the request.
        package static let forbidden = Code(value: .forbidden)
        /// The host speaks only other versions of the protocol.
        package static let otherVersion = Code(value: .otherVersion)
        /// The TLS key is not the one in the QR code: someone may be intercepting the connection.
        package static let otherKey = Code(value: .otherKey)
        /// The host is not the one in the QR code.
        package static let foreignHost = Code(value: .foreignHost)
        /// The host did not prove that it knows the code: someone may be intercepting the connection.
        package static let unproven = Code(value: .unproven)
        /// The host needs a code or a token, and none was given.
        package static let noToken = Code(value: .noToken)
        /// The host speaks only plain HTTP, and only an address for TLS was given.
        package static let noPlainAddress = Code(value: .noPlainAddress)
    }

    package let code: Code
    /// The message for users: what happened, and why. May contain text from the host: sanitise it before it is shown.
    package let message: String
    /// How many tries the host still allows for this code; nil if it does not tell.
    package let triesLeft: Int?
    /// The advice for users; nil if the code alone says what helps.
    package let advice: String?
    /// The source file that made the error, as `#fileID` gives it.
    package let file: String
    /// The line in ``file``.
    package let line: Int

    package init(
        _ code: Code,
        _ message: String,
        triesLeft: Int? = nil,
        advice: String? = nil,
        file: String = #fileID,
        line: Int = #line
    ) {
        self.code = code
        self.message = message
        self.triesLeft = triesLeft
        self.advice = advice
        self.file = file
        self.line = line
    }

    package var description: String { message }
}

/// Errors of a code that is not the host's any more.
///
/// Whether the typed digits were the code before cannot be tested: a second proof, over that code, would give someone
/// who takes the host's place two guesses in one pairing instead of one. When the host's code began is no secret.
extension PairingError {
    /// A code as old as this is not the reason why digits are wrong.
    private static let recent: TimeInterval = 60
    private static let advice = "enter the code that the host shows now: pairtool pair"

    /// The host has changed its code since the digits were read; they were not tried.
    static func changedCode(since time: TimeInterval) -> PairingError {
        PairingError(.expired, "the host has had a new code for \(seconds(time)); nothing was sent", advice: advice)
    }

    /// The same refusal of digits, if the host has changed its code a moment ago: then they probably are the code
    /// before.
    ///
    /// - Parameter time: How long the host has shown its code; nil if it does not say.
    func explained(codeShownFor time: TimeInterval?) -> PairingError {
        guard code == .wrongCode, triesLeft != 0, let time, time < Self.recent else { return self }
        let left = triesLeft.map { $0 == 1 ? " (1 try left)" : " (\($0) tries left)" } ?? ""
        return PairingError(
            .wrongCode,
            "wrong code\(left). The host has had a new code for \(Self.seconds(time)): enter that one. "
                + "If it fails too, someone may be intercepting the connection",
            triesLeft: triesLeft,
            advice: Self.advice
        )
    }

    private static func seconds(_ time: TimeInterval) -> String {
        let seconds = Int(min(max(time, 1), 3600))
        return seconds == 1 ? "1 second" : "\(seconds) seconds"
    }
}

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
                    ? "wrong code. That was the last try: this code is no longer valid. \(doubt)"
                    : "wrong code\(left). \(doubt)",
                triesLeft: triesLeft
            )
        case .pairingWrongToken:
            PairingError(
                .wrongToken,
                "the host does not accept this QR code\(triesLeft == 0 ? ", or any other from here for half a minute" : "")"
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
