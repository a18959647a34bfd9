import Discovery

/// The causes that keep hosts from being found, as far as quick checks can tell.
package enum LikelyCauses {
    /// The time limit for all checks together. The multicast test takes about half of it.
    private static let limit = Duration.seconds(1)

    /// - Parameter interface: The interface that was searched; nil for all.
    /// - Returns: The gravest problem, with advice; nil if there is none.
    /// - Throws: `CancellationError`.
    package static func find(interface: String?) async throws -> String? {
        let checks: [any DoctorCheck] = [
            InterfaceCheck(only: interface), PortCheck(),
            MulticastCheck(only: interface, limit: .milliseconds(600)),
        ]
        let findings = try await CheckRunner(checks: checks, limit: limit).run()
        return findings.first { $0.verdict == .problem }.map { finding in
            let about = (finding.subject.map { "\($0): " } ?? "") + finding.evidence
            return "\(finding.check.rawValue): \(about)" + (finding.advice.map { " → \($0)" } ?? "")
        }
    }
}
