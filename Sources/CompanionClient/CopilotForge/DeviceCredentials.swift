package import CompanionWire
package import FoundationEssentials

/// A device's identity for a host that it has paired with by protocol v2: signs requests and stores the session token.
///
/// The private key is never handed out; a client only gets signatures.
package protocol DeviceCredentials: Sendable {
    /// The last token that was stored; nil if there is none.
    func sessionToken() throws -> String?
    /// Stores a new token in place of the last one.
    func keep(_ grant: SessionGrant) throws
    /// The bytes of a signed request for a session, with a new nonce (``SessionRequest``).
    ///
    /// - Parameter now: The host's time.
    func sessionRequest(now: Date) throws -> [UInt8]
    /// The bytes of a signed command, with a new nonce (``SignedCommand``).
    ///
    /// - Parameters:
    ///   - id: The command's id. A host executes each id only once.
    ///   - now: The host's time. The command expires at most 300 s later.
    func signedCommand(_ payload: CommandPayload, id: UUID, now: Date) throws -> [UInt8]
}
