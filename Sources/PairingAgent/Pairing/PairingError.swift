/// Why a pairing failed.
package struct PairingError: Error, Sendable, CustomStringConvertible {
    package struct Code: Sendable, Hashable {
        private enum Value: Sendable {
            case wrongCode, wrongToken, expired, noChallenge, clockSkew, unreachable, wrongService, addressRefused
            case notConnected, foreignDevice, rejected, verifiedHost
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
    }

    package let code: Code
    /// What happened and why, for people. May hold text from the host: sanitise it before it is shown.
    package let message: String
    package let file: String
    package let line: Int

    package init(_ code: Code, _ message: String, file: String = #fileID, line: Int = #line) {
        self.code = code
        self.message = message
        self.file = file
        self.line = line
    }

    package var description: String { message }
}
