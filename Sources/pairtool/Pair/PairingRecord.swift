import CompanionWire
import PairingAgent

/// Stores the result of a pairing and shows it.
struct PairingRecord: Sendable {
    let output: Output

    private var context: CommandContext { output.context }

    /// The result of a pairing.
    struct Outcome: Sendable {
        /// The host as it is recorded now.
        var host: PairedHost
        /// The host that commands use if the user names none.
        var usual: PairedHost?
        /// What the host calls this device.
        var deviceName: String
        /// The host's clock minus ours; nil if it is not known.
        var clockOffset: Duration?
        /// The permissions that the host granted, if they are not the requested ones.
        var lessAllowed: [CompanionPermission]?

        var isDefault: Bool { usual?.id == host.id }

        var text: String {
            "Paired with \(host.title) as “\(deviceName)” (trust: \(host.trust.rawValue))."
        }
    }

    /// Stores a host and prints nothing.
    ///
    /// - Parameters:
    ///   - deviceName: What the host calls this device.
    ///   - clockOffset: The host's clock minus ours; nil if it is not known.
    ///   - earlier: The record that the new one replaces.
    func store(
        _ new: PairedHost,
        as deviceName: String,
        clockOffset: Duration? = nil,
        replacing earlier: (PairedHosts) throws -> PairedHost?
    ) throws -> Outcome {
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
            // A host that claims the id of a host of another family must not replace it.
            if let other = hosts.hosts.first(where: { $0.id == host.id && $0.family != host.family }) {
                throw PairingError(
                    .verifiedHost,
                    "\(host.name) claims the id of \(other.name), a \(other.family.displayName) host; nothing was changed"
                )
            }
            if hosts.hosts.contains(where: { $0.id != host.id && $0.name == host.name }) {
                host.name += " \(host.id.prefix(4))"
            }
            hosts.record(host)
            return (host, hosts.defaultHost)
        }
        return Outcome(host: host, usual: usual, deviceName: deviceName, clockOffset: clockOffset)
    }

    func show(_ outcome: Outcome) {
        let host = outcome.host
        output.result(PairedHostRow(host, isDefault: outcome.isDefault), id: host.id) {
            TerminalText.line(outcome.text)
        }
        explain(outcome)
        guard !outcome.isDefault else { return output.say("Next: \(host.family.behavior.firstCommand)") }
        if let usual = outcome.usual {
            output.say("Commands still go to \(TerminalText.line(usual.name)). To change that: pairtool hosts default")
        }
        output.say("Next: \(host.family.behavior.firstCommand) --host \(host.id.prefix(8))")
    }

    /// Reports a clock that differs and permissions that were not granted.
    func explain(_ outcome: Outcome) {
        if let offset = outcome.clockOffset, abs(offset.components.seconds) > 30 {
            let seconds = Int(offset.components.seconds)
            output.say(
                "Its clock is \(TimeText.span(Double(seconds))) \(seconds > 0 ? "ahead of" : "behind") this machine's."
            )
        }
        if let less = outcome.lessAllowed {
            let allowed = less.map(\.rawValue).joined(separator: ", ")
            output.say(
                "The host granted fewer permissions than requested: \(allowed.isEmpty ? "reading only" : allowed)."
            )
        }
    }
}
