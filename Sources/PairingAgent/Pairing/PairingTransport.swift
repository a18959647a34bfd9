package import CompanionWire

/// What a host says about itself before a code is sent.
package struct PairingHostHealth: Sendable, Hashable {
    /// Whether it names a service that speaks the companion protocol.
    package var isCompanion: Bool
    package var service: String?
    /// The host's clock minus this machine's, from the `Date` header (a resolution of one second); nil without the
    /// header.
    package var clockOffset: Duration?

    package init(isCompanion: Bool, service: String?, clockOffset: Duration?) {
        self.isCompanion = isCompanion
        self.service = service
        self.clockOffset = clockOffset
    }
}

/// Why a request of a pairing was not answered with success.
package struct PairingTransportError: Error, Sendable {
    package enum Reason: Sendable, Hashable {
        /// Nothing answered, or the connection broke.
        case unreachable
        /// Something answered that is not a companion host.
        case notACompanion
        /// The address is not on this machine or a local network.
        case addressRefused
        /// The host refused: its own text, as it came.
        case refused(text: String)
        /// A host of v2 refused, with a code.
        case refusedByCode(CompanionErrorCode, text: String, triesLeft: Int?)
        /// The host speaks other versions of the protocol only; nil where it does not say which.
        case otherVersions(ClosedRange<Int>?)
        /// The host shows another TLS key than the one that was expected.
        case otherKey
        /// The host failed, or its answer could not be read.
        case failed
    }

    package var reason: Reason
    /// What happened, for people.
    package var message: String

    package init(_ reason: Reason, _ message: String) {
        self.reason = reason
        self.message = message
    }
}

/// The requests that a pairing makes, to one host.
package protocol PairingTransport: Sendable {
    func pairingHealth() async throws(PairingTransportError) -> PairingHostHealth
    func pairingComplete(_ request: PairingCompleteRequest) async throws(PairingTransportError)
        -> CompanionStatusResponse
    func pairingStatus() async throws(PairingTransportError) -> CompanionStatusResponse
}

/// The requests that a pairing by protocol v2 makes, over one TLS connection to one host.
package protocol VerifiedPairingTransport: Sendable {
    /// The pin of the TLS key at which the connection ends. It becomes part of what both sides prove.
    var spki: String { get }

    func pairingHello(_ request: PairingHelloRequest) async throws(PairingTransportError) -> PairingHelloResponse
    func pairingShare(_ request: PairingShareRequest) async throws(PairingTransportError) -> PairingShareResponse
    func pairingConfirm(_ request: PairingConfirmRequest) async throws(PairingTransportError) -> PairingConfirmResponse
}
