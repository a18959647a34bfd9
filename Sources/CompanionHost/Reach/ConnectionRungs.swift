import CompanionWire
import LocalState
import NIOCore
import NIOPosix

/// Tells by which rung a connection came, as far as that can be seen at the host. Looked for once for each connection.
final class ConnectionRungs: Sendable {
    private let known = ChannelValues<HostRoute.Rung>()

    /// The beginnings of the names of VPN interfaces.
    private static let tunnels = ["wg", "tailscale", "tun", "tap", "utun", "zt", "nebula", "ppp"]

    func rung(of channel: any Channel) async -> HostRoute.Rung {
        if let rung = known.value(of: channel) { return rung }
        let rung = await Self.look(at: channel)
        known.set(rung, of: channel)
        return rung
    }

    private static func look(at channel: any Channel) async -> HostRoute.Rung {
        guard RelayPeers.id(of: channel) == nil else { return .relay }
        guard let peer = IPAddress(peerOf: channel) else { return .direct }
        if peer.scope == .sharedAddressSpace { return .mesh }
        guard isOwn(peer) else { return isOfTunnel(channel.localAddress) ? .mesh : .direct }
        // From this machine, by any of its addresses. What cannot be told is taken for ssh, which may be forbidden.
        guard let client = channel.remoteAddress.flatMap(TCPSocket.End.init(of:)),
            let server = channel.localAddress.flatMap(TCPSocket.End.init(of:)),
            let isSSH = try? await BlockingCall.run({ PeerOrigin.isOfSSH(client, connectedTo: server) })
        else { return .ssh }
        return isSSH ? .ssh : .direct
    }

    private static func isOwn(_ address: IPAddress) -> Bool {
        guard address.scope != .loopback, let devices = try? System.enumerateDevices() else { return true }
        return devices.contains { $0.address.flatMap(IPAddress.init(peer:)) == address }
    }

    /// Whether an address of this machine is one of an interface of a VPN.
    private static func isOfTunnel(_ address: SocketAddress?) -> Bool {
        guard let own = address.flatMap(IPAddress.init(peer:)), let devices = try? System.enumerateDevices() else {
            return false
        }
        return devices.contains { device in
            device.address.flatMap(IPAddress.init(peer:)) == own && tunnels.contains { device.name.begins(with: $0) }
        }
    }
}
