import CompanionWire
import Discovery
import Glibc

/// Whether `/proc` shows this user's programs to a host on this machine (proc(5), `hidepid`).
///
/// A host looks there for the program that asks. pairtool's own programs show nothing to others of the same user, so with
/// `hidepid` a host takes its owner for one of its agents, and refuses what agents may not do.
package struct ProcessCheck: DoctorCheck {
    package let name = CheckName.processes
    private let mounts: String

    /// - Parameter mounts: The list of mounted file systems (proc_pid_mounts(5)).
    package init(mounts: String = "/proc/self/mounts") {
        self.mounts = mounts
    }

    package func findings() -> [Finding] {
        [Self.finding(mounts: ProcessFile.text(of: mounts), user: geteuid(), groups: Self.groups)]
    }

    /// - Parameters:
    ///   - user: The user's id; root sees all processes.
    ///   - groups: The ids of the user's groups.
    static func finding(mounts: String, user: UInt32, groups: Set<UInt32>) -> Finding {
        var options: Substring?
        for line in mounts.parts("\n") {
            let fields = line.parts(" ")
            // What was mounted last lies on top.
            if fields.count > 3, fields[1].isSame(as: "/proc"), fields[2].isSame(as: "proc") { options = fields[3] }
        }
        guard let words = options?.parts(",") else {
            return .skipped(.processes, evidence: "/proc is not mounted, or cannot be read")
        }
        let seen = Finding.ok(.processes, evidence: "/proc shows a host which program asks")
        let hiding = words.compactMap { $0.dropping(prefix: "hidepid=") }.last
        guard let hiding, !hiding.isSame(as: "0"), !hiding.isSame(as: "off"), user != 0 else { return seen }
        // Without the option, the group that sees all is root's.
        let group = words.compactMap { $0.dropping(prefix: "gid=") }.last.flatMap { UInt32($0) } ?? 0
        guard !groups.contains(group) else { return seen }
        return .note(
            .processes,
            evidence:
                "/proc hides processes (hidepid=\(hiding)): a host on this machine refuses you like its agents",
            advice: .showProcesses
        )
    }

    private static var groups: Set<UInt32> {
        var list = [gid_t](repeating: 0, count: max(Int(getgroups(0, nil)), 0))
        let count = getgroups(Int32(list.count), &list)
        return Set(list.prefix(max(Int(count), 0)) + [getegid()])
    }
}
