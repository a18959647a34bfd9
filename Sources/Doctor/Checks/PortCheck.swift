import Discovery
import LocalState

/// Which programs use the mDNS port, and whether it can be shared.
package struct PortCheck: DoctorCheck {
    static let port = 5353

    package let name = CheckName.port

    package init() {}

    package func findings() async throws -> [Finding] {
        let (owners, isShared) = try await BlockingCall.run {
            (PortOwner.current(ofUDP: Self.port), PortTrial.canShare(udp: UInt16(Self.port)))
        }
        return [Self.finding(owners: owners, isShared: isShared)]
    }

    static func finding(owners: [PortOwner], isShared: Bool) -> Finding {
        let names = owners.map(describe).joined(separator: ", ")
        guard isShared else {
            let program = owners.count == 1 ? owners[0].program : nil
            return .problem(
                .port,
                evidence: "UDP port \(port) cannot be shared with \(names.isEmpty ? "another user's program" : names)",
                advice: .endPortOwner,
                values: ["PROGRAM": program ?? "the program"]
            )
        }
        guard !owners.isEmpty else { return .ok(.port, evidence: "UDP port \(port) is free") }
        let programs = Set(owners.compactMap(\.program))
        // The kernel keeps only 15 bytes of a program's name.
        guard !programs.contains("systemd-resolve") || programs.count == 1 else {
            return .warning(
                .port,
                evidence: "UDP port \(port) is shared by two mDNS responders: \(names)",
                advice: .oneResponder
            )
        }
        return .ok(.port, evidence: "UDP port \(port) can be shared with \(names)")
    }

    private static func describe(_ owner: PortOwner) -> String {
        guard let program = owner.program, let pid = owner.pid else { return "a program of user \(owner.user)" }
        return "\(program) (process \(pid))"
    }
}
