import Discovery

/// Why nothing was found: the likeliest causes, from those checks that are quick.
enum LikelyCauses {
    /// How long all of it may take. The multicast test listens for a good half of it.
    private static let limit = Duration.seconds(1)

    /// - Parameter interface: The one interface that was searched; nil for all.
    /// - Returns: Up to three, the likeliest first, each as a line with what to do.
    static func find(interface: String?) async throws -> [String] {
        let checks: [any DoctorCheck] = [
            InterfaceCheck(only: interface), PortCheck(), FirewallCheck(only: interface),
            MulticastCheck(only: interface, limit: .milliseconds(600)),
        ]
        var doctor = Doctor(checks: checks)
        doctor.limit = limit
        return rank(try await doctor.run())
            .map { finding in
                let about = (finding.subject.map { "\($0): " } ?? "") + finding.evidence
                return "\(finding.check.rawValue): \(about) → \(finding.advice ?? "")"
            }
    }

    /// Problems, then that nothing is advertised, then warnings, then what cannot be seen from here.
    static func rank(_ findings: [Finding]) -> [Finding] {
        let isMute = findings.contains { $0.check == .multicast && $0.verdict != .ok }
        let unseen: [Finding] = [
            .warning(.adverts, "no host advertises itself", .advertise),
            .warning(.multicast, "the network may keep multicast from some machines", .passMulticast),
            .warning(.interfaces, "the host may be in another network", .behindTunnel),
        ]
        let problems = findings.filter { $0.verdict == .problem }
        let warnings = findings.filter { $0.verdict == .warning }
        var ranked = problems + [unseen[0]] + warnings
        if !isMute { ranked.append(unseen[1]) }
        ranked.append(unseen[2])
        return Array(ranked.prefix(3))
    }
}
