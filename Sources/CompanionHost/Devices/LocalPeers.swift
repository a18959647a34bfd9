import CompanionWire
import Glibc
import LocalState
import NIOConcurrencyHelpers
import NIOCore
import NIOPosix

/// Finds the user behind a connection from this machine: all users of the machine share its addresses.
final class LocalPeers: Sendable {
    /// The findings about the peer of a connection: whether it is on this machine, and its user id, once that is known.
    private struct Peer {
        var isHere: Bool
        var user: UInt32?
    }

    /// The peers of open connections.
    private let known = ChannelValues<Peer>()
    /// The connected device of v1, and the id of the user who paired it; nil after a restart of the host.
    private let paired = NIOLockedValueBox<(device: String, user: UInt32)?>(nil)

    /// Whether the other end is on this machine: over the loopback interface, or from another of its addresses.
    func isHere(_ channel: any Channel) -> Bool {
        peer(of: channel).isHere
    }

    private func peer(of channel: any Channel) -> Peer {
        if let peer = known.value(of: channel) { return peer }
        let peer = Peer(isHere: IPAddress(peerOf: channel).flatMap(Self.isHere) ?? false)
        known.set(peer, of: channel)
        return peer
    }

    /// - Returns: nil where the addresses of this machine cannot be listed.
    private static func isHere(_ address: IPAddress) -> Bool? {
        if address.scope == .loopback { return true }
        guard let devices = try? System.enumerateDevices() else { return nil }
        return devices.contains { device in
            device.address.flatMap(IPAddress.init(raw:)).map { $0.bytes == address.bytes } ?? false
        }
    }

    /// The user at the other end; nil for a peer on another machine, and where it cannot be determined.
    func user(of channel: any Channel) async -> UInt32? {
        let peer = peer(of: channel)
        if let user = peer.user { return user }
        guard peer.isHere, let client = channel.remoteAddress.flatMap(TCPSocket.End.init(of:)),
            let server = channel.localAddress.flatMap(TCPSocket.End.init(of:)),
            let user = try? await NIOThreadPool.singleton.runIfActive({
                TCPSocket(of: client, connectedTo: server)?.owner
            })
        else { return nil }
        known.set(Peer(isHere: true, user: user), of: channel)
        return user
    }

    /// Which process is at the other end now, as far as agents are concerned.
    ///
    /// - Parameter peer: The address of the other end when the request came; nil where the connection had ended by
    ///   then.
    func origin(of peer: IPAddress?, over channel: any Channel) async -> PeerOrigin {
        guard let peer else { return .unknown }
        guard RelayPeers.id(of: channel) == nil else { return .relay }
        guard let isHere = Self.isHere(peer) else { return .unknown }
        // An address may have been taken away since the connection came.
        guard isHere || self.peer(of: channel).isHere else { return .elsewhere }
        guard let client = channel.remoteAddress.flatMap(TCPSocket.End.init(of:)),
            let server = channel.localAddress.flatMap(TCPSocket.End.init(of:))
        else { return .unknown }
        return (try? await BlockingCall.run { PeerOrigin(of: client, connectedTo: server) }) ?? .unknown
    }

    /// Whether the user who runs this host is at the other end, or root.
    func isOwner(_ channel: any Channel) async -> Bool {
        guard let user = await user(of: channel) else { return false }
        return user == 0 || user == geteuid()
    }

    /// Notes the user who has just paired a device.
    func notePairing(of device: String, over channel: any Channel) async {
        let user = await user(of: channel)
        paired.withLockedValue { $0 = user.map { (device, $0) } }
    }

    /// Whether a device that was paired from this machine is at the other end: the user who paired it, the one who runs
    /// this host, or root.
    func isUser(of device: String, over channel: any Channel) async -> Bool {
        guard let user = await user(of: channel) else { return false }
        if user == 0 || user == geteuid() { return true }
        return paired.withLockedValue { $0.map { $0.device == device && $0.user == user } ?? false }
    }
}

extension TCPSocket.End {
    /// nil for what has no IP address.
    init?(of address: SocketAddress) {
        guard let port = address.port.flatMap(UInt16.init(exactly:)), let ip = IPAddress(raw: address) else {
            return nil
        }
        self.init(address: ip, port: port)
    }
}

extension IPAddress {
    /// The address of a peer. IPv4 inside IPv6 counts as IPv4, and `::1` as `127.0.0.1`: one machine, one address.
    init?(peer: SocketAddress) {
        guard let full = IPAddress(raw: peer) else { return nil }
        let isLoopback = full.isIPv6 && full.bytes.dropLast().allSatisfy { $0 == 0 } && full.bytes.last == 1
        self = isLoopback ? IPAddress(bytes: [127, 0, 0, 1]) ?? full : full.unmapped
    }

    /// The address as the socket has it.
    init?(raw address: SocketAddress) {
        let raw = address.withSockAddr { pointer, size in
            Array(UnsafeRawBufferPointer(start: pointer, count: size))
        }
        switch address {
        case .v4:
            // struct sockaddr_in: family, port, address.
            self.init(bytes: Array(raw[4..<8]))
        case .v6:
            // struct sockaddr_in6: family, port, flow, address, scope.
            let scope = raw[24..<28].withUnsafeBytes { $0.loadUnaligned(as: UInt32.self) }
            self.init(bytes: Array(raw[8..<24]), zone: scope == 0 ? nil : String(scope))
        case .unixDomainSocket:
            return nil
        }
    }
}
