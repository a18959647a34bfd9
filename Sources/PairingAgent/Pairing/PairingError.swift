/// Why a pairing failed.
package struct PairingError: Error, Sendable, CustomStringConvertible {
    package struct Code: Sendable, Hashable {
        private enum Value: Sendable {
            case wrongCode, wrongToken, expired, noChallenge, clockSkew, unreachable, wrongService, addressRefused
            case notConnected, foreignDevice, rejected, verifiedHost
            case locked, rateLimited, forbidden, otherVersion, otherKey, foreignHost, unproven
        }
        private let value: Value

        package static let wrongCode = Code(value: .wrongCode)
        package static let wrongToken = Code(value: .wrongToken)
        package static let expired = Code(value: .expired)
        /// The host shows no code at the moment.
        package static let noChallenge = Code(value: .noChallenge)
        /// The code has expired by the host's clock, which differs from this machine's.
        package static let clockSkew = Code(value: .clockSkew)
        package static let unreachable = Code(value: .unreachable)
        /// Something else than a companion host listens there.
        package static let wrongService = Code(value: .wrongService)
        package static let addressRefused = Code(value: .addressRefused)
        /// The host took the code and says `connected: false`.
        package static let notConnected = Code(value: .notConnected)
        /// The host connected another device than this one.
        package static let foreignDevice = Code(value: .foreignDevice)
        /// The host refused for a reason of its own.
        package static let rejected = Code(value: .rejected)
        /// A host that was verified before may not be paired without proof.
        package static let verifiedHost = Code(value: .verifiedHost)
        /// The host takes no code until somebody there unlocks pairing.
        package static let locked = Code(value: .locked)
        /// Too many tries in a short time.
        package static let rateLimited = Code(value: .rateLimited)
        /// The host does not allow what was asked for.
        package static let forbidden = Code(value: .forbidden)
        /// The host speaks other versions of the protocol only.
        package static let otherVersion = Code(value: .otherVersion)
        /// The TLS key is not the one that the QR code names: somebody may be in between.
        package static let otherKey = Code(value: .otherKey)
        /// The host is not the one that the QR code names.
        package static let foreignHost = Code(value: .foreignHost)
        /// The host did not prove that it knows the code: somebody may be in between.
        package static let unproven = Code(value: .unproven)
    }

    package let code: Code
    /// What happened and why, for people. May hold text from the host: sanitise it before it is shown.
    package let message: String
    /// How often the host still takes this code; nil where it does not say.
    package let triesLeft: Int?
    package let file: String
    package let line: Int

    package init(
        _ code: Code,
        _ message: String,
        triesLeft: Int? = nil,
        file: String = #fileID,
        line: Int = #line
    ) {
        self.code = code
        self.message = message
        self.triesLeft = triesLeft
        self.file = file
        self.line = line
    }

    package var description: String { message }
}
