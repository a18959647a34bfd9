import CompanionWire
import PairingAgent

/// Keeps what a pairing came to, and says so.
struct PairingRecord: Sendable {
    let output: Output

    private var context: CommandContext { output.context }

    /// - Parameters:
    ///   - deviceName: What the host calls this device.
    ///   - clockOffset: The host's clock minus ours; nil where it is not known.
    ///   - earlier: The record that the new one takes the place of.
    func keep(
        _ new: PairedHost,
        as deviceName: String,
        clockOffset: Duration? = nil,
        replacing earlier: (PairedHosts) throws -> PairedHost?
    ) throws {
        let (host, usual) = try PairedHostStore(directory: context.paths.data).update { hosts in
            var host = new
            if let earlier = try earlier(hosts) {
                host.name = earlier.name
                if host.trust == .legacy { host.id = earlier.id }
                if host.id != earlier.id {
                    let wasDefault = hosts.defaultID == earlier.id
                    hosts.forget(earlier.id)
                    if wasDefault { hosts.defaultID = host.id }
                }
            }
            if hosts.hosts.contains(where: { $0.id != host.id && $0.name == host.name }) {
                host.name += " \(host.id.prefix(4))"
            }
            hosts.record(host)
            return (host, hosts.defaultHost)
        }
        let isDefault = usual?.id == host.id
        output.result(PairedHostRow(host, isDefault: isDefault), id: host.id) {
            TerminalText.line(
                "Paired with \(host.name) at \(host.endpoint) as “\(deviceName)” (trust: \(host.trust.rawValue))."
            )
        }
        if let offset = clockOffset, abs(offset.components.seconds) > 30 {
            let seconds = Int(offset.components.seconds)
            output.say(
                "Its clock is \(TimeText.span(Double(seconds))) \(seconds > 0 ? "ahead of" : "behind") this machine's."
            )
        }
        guard !isDefault else { return output.say("Next: \(Self.firstCommand(of: host.family))") }
        if let usual {
            output.say("Commands still go to \(TerminalText.line(usual.name)) (pairtool hosts default changes it).")
        }
        output.say("Next: \(Self.firstCommand(of: host.family)) --host \(host.id.prefix(8))")
    }

    /// What to do first with a host.
    private static func firstCommand(of family: HostFamily) -> String {
        switch family {
        case .copilotforge, .aicli: "pairtool projects"
        case .lumi: "pairtool sync"
        case .jarvis: "pairtool approvals"
        }
    }
}
