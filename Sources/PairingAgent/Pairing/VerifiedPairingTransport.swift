package import CompanionWire

/// The requests that a pairing by protocol v2 makes, over one TLS connection to one host.
package protocol VerifiedPairingTransport: Sendable {
    /// The pin of the TLS key at which the connection ends. It becomes part of what both sides prove.
    var spki: String { get }

    func pairingHello(_ request: PairingHelloRequest) async throws(PairingTransportError) -> PairingHelloResponse
    func pairingShare(_ request: PairingShareRequest) async throws(PairingTransportError) -> PairingShareResponse
    func pairingConfirm(_ request: PairingConfirmRequest) async throws(PairingTransportError) -> PairingConfirmResponse
}
