import Glibc

/// The origin of a request: whether an agent of a host on this machine may have sent it.
enum PeerOrigin: Sendable, Hashable {
    /// From another machine, or from one that cannot be told from this.
    case elsewhere
    /// By a relay, from any machine, also this one.
    case relay
    /// By ssh, whose server is on this machine: from any machine, also this one.
    case ssh
    /// From a process of this machine that no agent started.
    case owner
    /// From a process of an agent, of this host or of an earlier one.
    case agent(pid_t)
    /// From this machine; it cannot be told from which process.
    case unknown

    /// Finds the process that has the client's end of a connection from this machine now. Blocks.
    ///
    /// A program that is being started, an agent's too, has the connections of the one that starts it for a moment. So
    /// only what several looks say counts against the client, each twice as late: on a busy machine, a moment is long.
    ///
    /// - Parameters:
    ///   - client: The client's end.
    ///   - server: The host's end.
    init(of client: TCPSocket.End, connectedTo server: TCPSocket.End) {
        self = .unknown
        for look in 0..<Self.looks {
            if look > 0 { usleep(1000 << UInt32(look)) }
            self = Self(seenOf: client, connectedTo: server)
            if [.owner, .ssh, .elsewhere].contains(self) { return }
        }
    }

    /// Half a second in all: while many programs are started, every look in a shorter time has fallen into one.
    private static let looks = 9

    private init(seenOf client: TCPSocket.End, connectedTo server: TCPSocket.End) {
        guard let socket = TCPSocket(of: client, connectedTo: server) else {
            // Whoever sent the request has ended, or has closed the connection.
            self = .unknown
            return
        }
        let holders = SocketHolders(of: socket.inode)
        // After that, so that those are known which were started meanwhile.
        let agents = AgentProcesses.ofAgents()
        if let agent = holders.known.first(where: { agents.contains($0.id) }) {
            self = .agent(agent.id)
            return
        }
        // One that has ended meanwhile may have been an agent's, and may have passed the connection on.
        guard holders.known.allSatisfy({ ProcessTable.entry($0.id)?.startedAt == $0.startedAt }),
            TCPSocket(of: client, connectedTo: server) == socket
        else {
            self = .unknown
            return
        }
        guard holders.known.isEmpty else {
            self = holders.known.contains(where: Self.isOfSSH) ? .ssh : .owner
            return
        }
        let isHiddenAgent = holders.hidden.contains { process in
            agents.contains(process.id) && SocketHolders.user(of: process) == socket.owner
                && !Self.isOtherHost(process)
        }
        let ofUser = holders.hidden.filter { SocketHolders.user(of: $0) == socket.owner && $0.id != getpid() }
        let isHiddenOwner = holders.hidden.contains { SocketHolders.user(of: $0) == socket.owner }
        if isHiddenAgent || !isHiddenOwner {
            self = .unknown
        } else if ofUser.contains(where: Self.isOfSSH) {
            // The process of a login by ssh shows its files to nobody, and neither do pairtool's own. Where there are
            // both, it may be either: then nothing is concluded.
            self = ofUser.allSatisfy(Self.isOfSSH) ? .ssh : .elsewhere
        } else {
            self = .owner
        }
    }

    /// Whether the client's end of a connection from this machine is a server of ssh. Blocks.
    static func isOfSSH(_ client: TCPSocket.End, connectedTo server: TCPSocket.End) -> Bool {
        guard let socket = TCPSocket(of: client, connectedTo: server) else { return false }
        let holders = SocketHolders(of: socket.inode)
        let candidates =
            holders.known.isEmpty ? holders.hidden.filter { SocketHolders.user(of: $0) == socket.owner } : holders.known
        return candidates.contains(where: isOfSSH)
    }

    /// Whether a process is that of a login by ssh: the child of a server of root's.
    private static func isOfSSH(_ process: ProcessTable.Entry) -> Bool {
        [process.id, process.parent].allSatisfy { ProcessTable.name(of: $0).starts(with: "sshd".utf8) }
            && SocketHolders.user(of: process.parent) == 0
    }

    /// Whether the mark of agents' processes begins at a process: it is another host of the same user then, and no
    /// agent. A process that an agent has left behind may have a parent without the mark, but stays in a session that
    /// the agent began: nobody gets back into another one (setsid(2)).
    private static func isOtherHost(_ process: ProcessTable.Entry) -> Bool {
        process.parent != getpid() && !InheritedMark.isOn(process.parent)
            && process.session != process.id && ProcessTable.entry(process.session) != nil
            && !InheritedMark.isOn(process.session)
    }
}
