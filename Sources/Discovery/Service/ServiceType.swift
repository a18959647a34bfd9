package import CompanionWire

/// A DNS-SD service type such as `_copilotforge-companion._tcp` (RFC 6763, section 7).
package struct ServiceType: Hashable, Sendable {
    /// The type as it stands in DNS: `_label._tcp` or `_label._udp`, without a domain.
    package let rawValue: String

    /// Reads a service type.
    ///
    /// The label has 1 to 62 bytes (a DNS label holds 63 with its underscore): letters, digits and inner hyphens,
    /// and at least one letter (RFC 6335, section 5.1). That RFC's limit of 15 is not kept, because the field's own
    /// `_copilotforge-companion` is longer.
    ///
    /// - Returns: nil for anything else; an upper-case protocol label is not accepted either.
    package init?(_ text: String) {
        let parts = text.parts(".", omittingEmpty: false)
        guard parts.count == 2, parts[1] == "_tcp" || parts[1] == "_udp", parts[0].begins(with: "_") else { return nil }
        let label = parts[0].dropFirst()
        guard (1...62).contains(label.utf8.count),
            !label.begins(with: "-"), !label.ends(with: "-"),
            label.utf8.allSatisfy({ $0.isASCIILetter || $0.isASCIIDigit || $0 == UInt8(ascii: "-") }),
            label.utf8.contains(where: \.isASCIILetter)
        else { return nil }
        rawValue = text
    }

    private init(known rawValue: String) {
        self.rawValue = rawValue
    }

    /// CopilotForge's companion protocol.
    package static let companion = ServiceType(known: "_copilotforge-companion._tcp")
    /// The same protocol under its short name, which fits the 15 bytes that some responders insist on.
    package static let companionShort = ServiceType(known: "_cf-companion._tcp")
    /// Lumi's agent.
    package static let lumi = ServiceType(known: "_lumiagent._tcp")
    /// AICLI's server.
    package static let aicli = ServiceType(known: "_aiclicode._tcp")
    /// The type that AICLI servers of July 2025 advertise.
    package static let aicliEarly = ServiceType(known: "_claudecode._tcp")

    /// Every type that pairtool looks for by itself.
    package static let all: [ServiceType] = [.companion, .companionShort, .lumi, .aicli, .aicliEarly]

    /// The kind of host behind a type; nil for a type that pairtool does not know.
    package var family: HostFamily? {
        switch self {
        case .companion, .companionShort: .copilotforge
        case .lumi: .lumi
        case .aicli, .aicliEarly: .aicli
        default: nil
        }
    }
}

extension ServiceType: CustomStringConvertible {
    /// ``rawValue``.
    package var description: String { rawValue }
}

extension ServiceType: Comparable {
    /// The known types first, in the order of ``all``, then the others by name.
    package static func < (left: ServiceType, right: ServiceType) -> Bool {
        let order = (left.rank, right.rank)
        return order.0 == order.1 ? left.rawValue < right.rawValue : order.0 < order.1
    }

    private var rank: Int {
        ServiceType.all.firstIndex(of: self) ?? ServiceType.all.count
    }
}
