import CompanionWire
import FoundationEssentials

/// Limits of each address's connections, and deadlines of all. A value: events and times come in, and the connections
/// that have to be ended go out.
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
    }

    let limits: ConnectionLimits
    private var connections: [ID: Connection] = [:]
    private var perAddress: [IPAddress: [Phase: Int]] = [:]

    init(limits: ConnectionLimits) {
        self.limits = limits
    }

    var count: Int { connections.count }

    /// A connection arrives.
    ///
    /// - Parameter isSecure: Whether it begins with a TLS handshake.
    /// - Returns: Whether it is let in, and the connection that gives way to it: the oldest of its address's handshakes,
    ///   if those are too many. That one is forgotten, and has to be ended. Strangers that begin handshakes all the time
    ///   at a device's address would keep the device out otherwise.
    mutating func open(
        _ id: ID,
        from address: IPAddress,
        isSecure: Bool,
        now: Date
    ) -> (isOpen: Bool, instead: ID?) {
        var instead: ID?
        if isSecure, number(of: address, in: .handshake) >= limits.handshakesPerAddress {
            instead = oldestHandshake(of: address)
            if let instead { close(instead) }
        }
        guard number(of: address) < limits.perAddress else { return (false, instead) }
        let phase = isSecure ? Phase.handshake : .idle
        connections[id] = Connection(address: address, phase: phase, since: now)
        perAddress[address, default: [:]][phase, default: 0] += 1
        return (true, instead)
    }

    private func oldestHandshake(of address: IPAddress) -> ID? {
        connections.filter { $0.value.phase == .handshake && $0.value.address == address }
            .min { $0.value.since < $1.value.since }?.key
    }

    /// A connection begins with something else.
    ///
    /// - Returns: Whether it may; if not, it is forgotten, and has to be ended.
    mutating func enter(_ phase: Phase, by id: ID, now: Date) -> Bool {
        guard let connection = connections[id], connection.phase != phase else { return true }
        let address = connection.address
        // Strangers at a paired device's address do not keep the device from sending.
        if phase == .body, !connection.isTrusted, number(of: address, in: .body) >= limits.bodiesPerAddress {
            close(id)
            return false
        }
        perAddress[address]?[connection.phase, default: 1] -= 1
        perAddress[address]?[phase, default: 0] += 1
        connections[id]?.phase = phase
        connections[id]?.since = now
        return true
    }

    /// A request on a connection has proven to come from a paired device, or has failed to.
    mutating func trust(_ id: ID, _ isTrusted: Bool) {
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
}
