/// Whether a host on this machine can run its agents in a box (`pairtool host --sandbox`).
package struct SandboxCheck: DoctorCheck {
    package let name = CheckName.sandbox
    private let complaint: @Sendable () async -> String?

    /// - Parameter complaint: Says what is missing; nil if nothing is.
    package init(complaint: @escaping @Sendable () async -> String?) {
        self.complaint = complaint
    }

    package func findings() async -> [Finding] {
        guard let complaint = await complaint() else {
            return [.ok(.sandbox, evidence: "a host can run its agents in a box (bubblewrap)")]
        }
        return [.note(.sandbox, evidence: complaint, advice: .installSandbox)]
    }
}
