package import CompanionWire
package import FoundationEssentials

/// Who a device is to a host that it has paired with by protocol v2: signs for it and keeps its session's token.
///
/// The key stays where it is kept; a client only ever gets signatures.
package protocol DeviceCredentials: Sendable {
    /// The token that was kept last, if there is one.
    func sessionToken() throws -> String?
    /// Keeps a new token in place of the last one.
    func keep(_ grant: SessionGrant) throws
    /// The bytes of a signed request for a session, with a new nonce (``SessionRequest``).
    ///
    /// - Parameter now: The host's time.
    func sessionRequest(now: Date) throws -> [UInt8]
    /// The bytes of a signed command, with a new nonce (``SignedCommand``).
    ///
    /// - Parameters:
    ///   - id: The command's id: a host executes no id twice.
    ///   - now: The host's time. The command expires 300 s later at most.
    func signedCommand(_ payload: CommandPayload, id: UUID, now: Date) throws -> [UInt8]
}
