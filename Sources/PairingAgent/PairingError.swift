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
