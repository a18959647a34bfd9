import Discovery

/// The most likely causes if no host was found, from the checks that are quick.
package enum LikelyCauses {
    /// The time limit for all checks together. The multicast test takes about half of it.
    private static let limit = Duration.seconds(1)

    /// - Parameter interface: The interface that was searched; nil for all.
    /// - Returns: Up to three causes, the most likely first, each on a line with advice.
    /// - Throws: `CancellationError`.
    package static func find(interface: String?) async throws -> [String] {
        let checks: [any DoctorCheck] = [
            InterfaceCheck(only: interface), PortCheck(),
            MulticastCheck(only: interface, limit: .milliseconds(600)),
        ]
        return rank(try await CheckRunner(checks: checks, limit: limit).run())
            .map { finding in
                let about = (finding.subject.map { "\($0): " } ?? "") + finding.evidence
                return "\(finding.check.rawValue): \(about) → \(finding.advice ?? "")"
            }
    }

    /// The order: problems, then "nothing is advertised", then warnings, then causes that cannot be detected from here.
    static func rank(_ findings: [Finding]) -> [Finding] {
        let isMute = findings.contains { $0.check == .multicast && $0.verdict != .ok }
        let unseen: [Finding] = [
            .warning(.adverts, evidence: "no host advertises itself", advice: .advertise),
            .warning(.multicast, evidence: "the network may keep multicast from some machines", advice: .passMulticast),
            .warning(.interfaces, evidence: "the host may be in another network", advice: .behindTunnel),
        ]
        let problems = findings.filter { $0.verdict == .problem }
        let warnings = findings.filter { $0.verdict == .warning }
        var ranked = problems + [unseen[0]] + warnings
        if !isMute { ranked.append(unseen[1]) }
        ranked.append(unseen[2])
        return Array(ranked.prefix(3))
    }
}
