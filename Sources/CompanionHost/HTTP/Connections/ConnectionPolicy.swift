import CompanionWire
import FoundationEssentials

/// Decides which connections are let in, for how long, and which give way. A value: events and times come in, and the
/// connections that have to be ended go out.
///
/// A new connection is let in as long as another may give way to it. Peers that have not proven to be a paired device
/// give way first, the oldest first: idle connections, then those that are sending something, then those that are being
/// answered. A paired device gives way only while it is idle. So a peer that holds connections open loses them to
/// newcomers, also to those from its own address.
struct ConnectionPolicy: Sendable {
    /// A connection, as its owner numbers it.
    typealias ID = UInt

    /// The phase that a connection is in.
    enum Phase: Sendable, Hashable {
        /// TLS is being agreed on.
        case handshake
        /// No byte of a request has come.
        case idle
        /// A request's head is coming.
        case head
        /// A request's body is coming.
        case body
        /// A request is being answered.
        case answer
        /// It has become the live feed, which looks after itself.
        case live
    }

    struct Overdue: Sendable, Hashable {
        var id: ID
        var phase: Phase
    }

    private struct Connection: Sendable {
        var address: IPAddress
        var phase: Phase
        var since: Date
        var isTrusted = false
        /// Its place in the order of arrival.
        var number: UInt64
    }

    let limits: ConnectionLimits
    private var connections: [ID: Connection] = [:]
    private var perAddress: [IPAddress: [Phase: Int]] = [:]
    private var arrivals: UInt64 = 0

    init(limits: ConnectionLimits) {
        self.limits = limits
    }

    var count: Int { connections.count }

    /// A connection arrives.
    ///
    /// - Parameter isSecure: Whether it begins with a TLS handshake.
    /// - Returns: Whether it is let in, and who gives way to it: that one is forgotten, and has to be ended.
    mutating func open(_ id: ID, from address: IPAddress, isSecure: Bool, now: Date) -> (isOpen: Bool, instead: ID?) {
        var instead: ID?
        if isSecure, number(of: address, in: .handshake) >= limits.handshakesPerAddress {
            instead = oldest { $0.phase == .handshake && $0.address == address ? 0 : nil }
        } else if number(of: address) >= limits.perAddress {
            instead = oldest { $0.address == address ? Self.rank($0) : nil }
            guard instead != nil else { return (false, nil) }
        } else if connections.count >= limits.total {
            instead = oldest(Self.rank)
            guard instead != nil else { return (false, nil) }
        }
        if let instead { close(instead) }
        arrivals += 1
        let phase = isSecure ? Phase.handshake : .idle
        connections[id] = Connection(address: address, phase: phase, since: now, number: arrivals)
        perAddress[address, default: [:]][phase, default: 0] += 1
        return (true, instead)
    }

    /// A connection begins with something else.
    ///
    /// - Returns: Who gives way, which may be itself: that one is forgotten, and has to be ended.
    mutating func enter(_ phase: Phase, id: ID, now: Date) -> ID? {
        guard let connection = connections[id], connection.phase != phase else { return nil }
        let address = connection.address
        var instead: ID?
        if phase == .body, number(of: address, in: .body) >= limits.bodiesPerAddress {
            instead = oldest { $0.phase == .body && $0.address == address ? ($0.isTrusted ? 1 : 0) : nil }
            // Who has proven nothing does not push a device aside.
            if let other = instead, connections[other]?.isTrusted == true, !connection.isTrusted { instead = id }
        }
        if let instead { close(instead) }
        guard instead != id else { return id }
        perAddress[address]?[connection.phase, default: 1] -= 1
        perAddress[address]?[phase, default: 0] += 1
        connections[id]?.phase = phase
        connections[id]?.since = now
        return instead
    }

    /// A request on a connection has proven to come from a paired device, or has failed to.
    mutating func trust(_ id: ID, isTrusted: Bool) {
        connections[id]?.isTrusted = isTrusted
    }

    /// A connection has ended.
    mutating func close(_ id: ID) {
        guard let connection = connections.removeValue(forKey: id) else { return }
        perAddress[connection.address]?[connection.phase, default: 1] -= 1
        if number(of: connection.address) == 0 { perAddress[connection.address] = nil }
    }

    /// Forgets the connections whose time is over: they have to be ended.
    mutating func takeOverdue(now: Date) -> [Overdue] {
        let overdue = connections.filter { isOverdue($0.value, now: now) }
        for id in overdue.keys { close(id) }
        return overdue.map { Overdue(id: $0.key, phase: $0.value.phase) }
    }

    private func isOverdue(_ connection: Connection, now: Date) -> Bool {
        let limit: Duration? =
            switch connection.phase {
            case .handshake: limits.handshake
            case .head: limits.head
            case .body: limits.body
            case .answer: connection.isTrusted ? nil : limits.answer
            case .idle, .live: nil
            }
        guard let limit else { return false }
        return now.timeIntervalSince(connection.since) >= limit / .seconds(1)
    }

    private func number(of address: IPAddress) -> Int {
        perAddress[address]?.values.reduce(0, +) ?? 0
    }

    private func number(of address: IPAddress, in phase: Phase) -> Int {
        perAddress[address]?[phase] ?? 0
    }

    /// The connection of the lowest rank that has been in its phase for longest; nil ranks give way to nobody.
    private func oldest(_ rank: (Connection) -> Int?) -> ID? {
        var best: (id: ID, rank: Int, since: Date, number: UInt64)?
        for (id, connection) in connections {
            guard let rank = rank(connection) else { continue }
            if let best {
                let isBefore = (rank, connection.since, connection.number) < (best.rank, best.since, best.number)
                guard isBefore else { continue }
            }
            best = (id, rank, connection.since, connection.number)
        }
        return best?.id
    }

    /// How soon a connection gives way: the lowest first; nil for never.
    private static func rank(_ connection: Connection) -> Int? {
        switch (connection.phase, connection.isTrusted) {
        case (.idle, false): 0
        case (.handshake, _), (.head, false), (.body, false): 1
        case (.idle, true): 2
        case (.answer, false): 3
        case (.head, true), (.body, true), (.answer, true), (.live, _): nil
        }
    }
}
