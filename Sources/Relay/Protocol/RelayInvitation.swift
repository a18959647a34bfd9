package import CompanionWire

/// An invitation to a pipe: who is at its other end, and the key with which the relay is asked for it.
///
/// The message also names an address and a port. They are left out here on purpose: the pipe is opened at the address
/// that was dialled, so that a relay cannot send its clients to another machine.
package struct RelayInvitation: Sendable, Hashable {
    /// The most bytes of a key.
    static let longestKey = 32

    /// The id of the certificate that the other side has shown to the relay. Only the relay's word stands for it.
    package let from: RelayID
    /// Good for one connection, within a minute.
    package let key: [UInt8]

    package init(from: RelayID, key: [UInt8]) {
        (self.from, self.key) = (from, key)
    }
}

/// The message by which a relay invites to a pipe, with everything that is in it.
package struct RelaySessionInvitation: Sendable, Hashable {
    /// The part that is used.
    package let invitation: RelayInvitation
    /// The address that the relay names: 4 or 16 bytes, or none. Never connected to.
    package let address: [UInt8]
    /// The port that the relay names. Never connected to.
    package let port: UInt32
    /// Whether the receiver should be the server of TLS. The device is always the client here.
    package let isServer: Bool

    package init(invitation: RelayInvitation, address: [UInt8], port: UInt32, isServer: Bool) {
        (self.invitation, self.address, self.port, self.isServer) = (invitation, address, port, isServer)
    }

    init?(from reader: inout XDRReader) {
        guard let bytes = reader.readOpaque(atMost: RelayID.byteCount), let from = RelayID(bytes: bytes),
            let key = reader.readOpaque(atMost: RelayInvitation.longestKey), !key.isEmpty,
            let address = reader.readOpaque(atMost: 32), let port = reader.readNumber(),
            let isServer = reader.readBool()
        else { return nil }
        self.init(
            invitation: RelayInvitation(from: from, key: key),
            address: address,
            port: port,
            isServer: isServer
        )
    }

    func write(to writer: inout XDRWriter) {
        writer.write(opaque: invitation.from.bytes)
        writer.write(opaque: invitation.key)
        writer.write(opaque: address)
        writer.write(port)
        writer.write(isServer ? 1 : 0)
    }
}
