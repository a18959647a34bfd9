package import CompanionWire

/// What a host reports about itself before a code is sent.
package struct PairingHostHealth: Sendable, Hashable {
    /// Whether the service speaks the companion protocol.
    package var isCompanion: Bool
    package var service: String?
    /// The host's clock minus this machine's, from the `Date` header (one second resolution); nil without the header.
    package var clockOffset: Duration?

    package init(isCompanion: Bool, service: String?, clockOffset: Duration?) {
        self.isCompanion = isCompanion
        self.service = service
        self.clockOffset = clockOffset
    }
}

/// Why a request of a pairing failed.
package struct PairingTransportError: Error, Sendable {
    package enum Reason: Sendable, Hashable {
        /// Nothing answered, or the connection broke.
        case unreachable
        /// Something other than a companion host answered.
        case notACompanion
        /// The address is not on this machine or on a local network.
        case addressRefused
        /// The host refused, with its own text, unchanged.
        case refused(text: String)
        /// A host of v2 refused, with an error code.
        case refusedByCode(CompanionErrorCode, text: String, triesLeft: Int?)
        /// The host speaks only other versions of the protocol; nil if it does not tell which.
        case otherVersions(ClosedRange<Int>?)
        /// The host's TLS key is not the expected one.
        case otherKey
        /// The host failed, or its answer could not be read.
        case failed
    }

    package var reason: Reason
    /// What happened, as text for users.
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
    /// The pin of the connection's TLS key. It is part of what both sides prove.
    var spki: String { get }

    func pairingHello(_ request: PairingHelloRequest) async throws(PairingTransportError) -> PairingHelloResponse
    func pairingShare(_ request: PairingShareRequest) async throws(PairingTransportError) -> PairingShareResponse
    func pairingConfirm(_ request: PairingConfirmRequest) async throws(PairingTransportError) -> PairingConfirmResponse
}
