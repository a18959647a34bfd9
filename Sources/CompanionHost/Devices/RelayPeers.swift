import CompanionWire
import NIOCore

/// The connections that came by a relay, and who called.
///
/// One table for the process: a request knows nothing but its channel.
enum RelayPeers {
    private static let known = ChannelValues<RelayID>()

    /// Notes who called, before anything else learns of the connection.
    static func record(_ id: RelayID, of channel: any Channel) {
        known.set(id, of: channel)
    }

    /// The id that the caller has shown to the relay; nil for a connection that did not come by one.
    static func id(of channel: any Channel) -> RelayID? {
        known.value(of: channel)
    }
}

extension IPAddress {
    /// The address of a connection's peer. One that came by a relay has no address here: it gets one of its own, made
    /// of its id, in the block that leads nowhere (100::/64, RFC 6666). So limits for each address hold for each caller.
    init?(peerOf channel: any Channel) {
        if let id = RelayPeers.id(of: channel) {
            self.init(bytes: [0x01, 0, 0, 0, 0, 0, 0, 0] + id.bytes.prefix(8))
        } else if let address = channel.remoteAddress {
            self.init(peer: address)
        } else {
            return nil
        }
    }
}
