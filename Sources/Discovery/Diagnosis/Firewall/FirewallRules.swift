internal import CompanionWire

/// A packet of mDNS, as a firewall sees it.
package struct FirewallPacket: Sendable, Hashable {
    /// Whether it comes in on the interface, rather than going out.
    package var isIncoming: Bool
    package var interface: String
    package var isIPv6: Bool

    package init(isIncoming: Bool, interface: String, isIPv6: Bool) {
        self.isIncoming = isIncoming
        self.interface = interface
        self.isIPv6 = isIPv6
    }

    /// Both of its ports (RFC 6762, section 6).
    static let port = 5353

    /// The address that it goes to.
    var destination: [UInt8] {
        isIPv6 ? [0xFF, 0x02] + [UInt8](repeating: 0, count: 13) + [0xFB] : [224, 0, 0, 251]
    }
}

/// The conditions of a rule. Those that pairtool cannot judge are ``unknown``.
indirect enum FirewallCondition: Sendable, Hashable {
    /// The transport protocol is one of these names.
    case transport(Set<String>)
    /// A port, of source or destination (they are the same), is in one of these ranges.
    case port([ClosedRange<Int>])
    /// The interface that it comes in on, or goes out on, has one of these names; `*` or `+` at the end stands for
    /// anything.
    case interface(incoming: Bool, names: [String])
    case destination([IPPrefix])
    /// The connection's state is one of these, in lower case.
    case state(Set<String>)
    case version(isIPv6: Bool)
    /// It goes to a group (`multicast`), or to one machine (anything else).
    case castTo(String)
    case not(FirewallCondition)
    case unknown

    /// - Returns: nil where it depends on what cannot be known.
    func holds(for packet: FirewallPacket) -> Bool? {
        switch self {
        case .transport(let names): !names.isDisjoint(with: ["udp", "17", "all", "0"])
        case .port(let ranges): ranges.contains { $0.contains(FirewallPacket.port) }
        case .interface(let incoming, let names):
            // A condition on the other direction's interface does not match.
            incoming == packet.isIncoming && names.contains { Self.matches(packet.interface, $0) }
        case .destination(let prefixes): prefixes.contains { $0.contains(packet.destination) }
        case .state(let states):
            // Announcements come unasked: connection tracking calls them new, or is told not to look.
            !states.isDisjoint(with: ["new", "untracked"])
        case .version(let isIPv6): isIPv6 == packet.isIPv6
        case .castTo(let kind): kind.lowercased() == "multicast"
        case .not(let condition): condition.holds(for: packet).map { !$0 }
        case .unknown: nil
        }
    }

    private static func matches(_ name: String, _ pattern: String) -> Bool {
        guard let start = pattern.dropping(suffix: "*") ?? pattern.dropping(suffix: "+") else { return name == pattern }
        return name.begins(with: start)
    }
}

/// A network: an address and how many of its bits count.
struct IPPrefix: Sendable, Hashable {
    var bytes: [UInt8]
    var bits: Int

    /// Reads `224.0.0.0/4`, `ff02::fb` and the like.
    init?(_ text: some StringProtocol) {
        let parts = text.parts("/", omittingEmpty: false)
        guard let first = parts.first, parts.count <= 2, let address = IPAddress(String(first)) else { return nil }
        let whole = address.bytes.count * 8
        guard let bits = parts.count == 2 ? Int(parts[1]) : whole, (0...whole).contains(bits) else { return nil }
        bytes = address.bytes
        self.bits = bits
    }

    func contains(_ address: [UInt8]) -> Bool {
        guard address.count == bytes.count else { return false }
        return (0..<bits).allSatisfy { bit in
            (address[bit / 8] ^ bytes[bit / 8]) & (0x80 >> UInt8(bit % 8)) == 0
        }
    }
}

/// What a rule does with the packets that it applies to.
enum FirewallAction: Sendable, Hashable {
    case accept
    case drop
    /// Goes through another chain and comes back.
    case jump(String)
    /// Goes through another chain instead.
    case go(String)
    /// Back to the chain that this one was called from.
    case back
    /// Counts, logs, marks.
    case nothing
    /// Hands it to a program, or does what is not known here.
    case unknown
}

struct FirewallRule: Sendable, Hashable {
    var conditions: [FirewallCondition]
    var action: FirewallAction
    /// For people: where it stands, or how it reads.
    var text: String
}

/// A chain that packets come through first.
struct FirewallEntry: Sendable, Hashable {
    var chain: String
    var isIncoming: Bool
    /// nil: both.
    var isIPv6: Bool?
    /// Whether what reaches the end is dropped.
    var dropsByPolicy: Bool
    /// Which firewall the chain is of, for people and for advice.
    var place: String
}

/// A set of rules that packets pass one chain after another.
package struct FirewallRules: Sendable, Hashable {
    /// What becomes of a packet.
    package enum Verdict: Sendable, Hashable {
        case passes
        /// A rule, or the policy of a chain, drops it.
        case dropped(by: String)
        /// It depends on what cannot be seen here whether this drops it.
        case perhapsDropped(by: String)
    }

    var entries: [FirewallEntry] = []
    /// By name. Names of chains of different tables differ by their table.
    var chains: [String: [FirewallRule]] = [:]

    /// Whether there is nothing in it that could drop anything.
    package var isEmpty: Bool { entries.isEmpty }
}
