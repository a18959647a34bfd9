import CompanionWire
package import Discovery

/// Which hosts advertise themselves, and under which service types.
package struct AdvertCheck: DoctorCheck {
    package let name = CheckName.adverts
    private let hasPairedHosts: Bool
    private let look: @Sendable () async throws -> [DiscoveredHost]

    /// - Parameters:
    ///   - hasPairedHosts: Whether hosts are paired. Those have a check of their own, and hosts that were paired by
    ///     address need not be advertised.
    ///   - look: Looks for hosts on the network.
    package init(hasPairedHosts: Bool, look: @escaping @Sendable () async throws -> [DiscoveredHost]) {
        self.hasPairedHosts = hasPairedHosts
        self.look = look
    }

    package func findings() async throws -> [Finding] {
        Self.findings(try await look(), hasPairedHosts: hasPairedHosts)
    }

    static func findings(_ hosts: [DiscoveredHost], hasPairedHosts: Bool) -> [Finding] {
        guard !hosts.isEmpty else {
            let evidence = "no host advertises itself"
            return [
                hasPairedHosts
                    ? .note(.adverts, evidence: evidence, advice: .advertise)
                    : .warning(.adverts, evidence: evidence, advice: .advertise),
                .skipped(.serviceType, evidence: "no host was found"),
            ]
        }
        var findings: [Finding] = []
        let resolved = hosts.filter { !$0.unresolved }.map(\.name)
        if !resolved.isEmpty {
            let more = resolved.count > 5 ? " and \(resolved.count - 5) more" : ""
            findings.append(.ok(.adverts, evidence: resolved.prefix(5).joined(separator: ", ") + more))
        }
        for host in hosts where host.unresolved {
            findings.append(
                .warning(.adverts, about: host.name, evidence: "its name or address does not resolve", advice: .resolve)
            )
        }
        return findings + types(of: hosts)
    }

    /// The length limit of service names: RFC 6335, section 5.1, referenced by RFC 6763, section 7.2.
    private static let longest = 15

    private static func types(of hosts: [DiscoveredHost]) -> [Finding] {
        let long = hosts.filter { host in
            !host.types.isEmpty && host.types.allSatisfy { $0.label.utf8.count > longest }
        }
        guard !long.isEmpty else {
            let types = Set(hosts.flatMap(\.types)).sorted().map(\.rawValue)
            return [.ok(.serviceType, evidence: "found under " + types.joined(separator: ", "))]
        }
        return long.map { host in
            let type = host.types.sorted()[0]
            return .warning(
                .serviceType,
                about: host.name,
                evidence: "advertises \(type) only: \(type.label.utf8.count) bytes, \(longest) are allowed (RFC 6763), "
                    + "and some mDNS programs refuse it",
                advice: .shortType
            )
        }
    }
}

extension ServiceType {
    /// The name of the service, without its underscore and protocol.
    fileprivate var label: Substring {
        rawValue.dropFirst().prefix { $0 != "." }
    }
}
