import CompanionApp
import CompanionWire
import FoundationEssentials
import Identity
import LocalState
import PairingAgent
import Terminal

/// Shows the result of a pairing.
struct PairingReport: Sendable {
    let output: Output

    /// Shows a pairing as the command's result, with the next step.
    func show(_ outcome: PairingOutcome) {
        let host = outcome.host
        output.result(PairedHostRow(host, isDefault: outcome.isDefault), id: host.id) {
            TerminalText.line(outcome.text)
        }
        explain(outcome)
        if outcome.isDefault {
            output.say("Next: \(host.family.behavior.facts.firstCommand)")
        } else {
            if let usual = outcome.usual {
                output.say(
                    "Commands still go to \(TerminalText.line(usual.name)). To change that: "
                        + "pairtool hosts default \(host.id.shortID)"
                )
            }
            output.say("Next: \(host.family.behavior.facts.firstCommand) --host \(host.id.shortID)")
        }
        for note in outcome.notes { output.say(note) }
    }

    /// Reports a clock that differs and permissions that were not granted.
    func explain(_ outcome: PairingOutcome) {
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
        } else if let permissions = outcome.host.permissions, permissions.count < CompanionPermission.all.count {
            output.say("At this host, this device may: \(permissions.rights).")
        }
    }
}

extension PairingOutcome {
    var text: String {
        "Paired with \(host.title) as “\(deviceName)” (trust: \(host.trust.rawValue))."
    }
}

extension PairingDevice {
    /// This machine; its keys are created if there are none.
    ///
    /// - Parameter name: The name for this device in a host's list.
    init(name: String, environment: AppEnvironment) throws {
        let data = environment.paths.data
        if try !PairedHostStore(directory: data).load().hosts.isEmpty, FileStatus(data + "/identity.key") == nil {
            environment.interaction.say(
                "This device's key is missing. pairtool makes a new one, and you have to pair with each host again."
            )
        }
        self.init(
            identity: try SecureKeyStore(directory: data).identity(),
            name: name,
            data: data,
            tunnels: environment.tunnels,
            now: environment.now,
            logger: environment.logger
        )
    }
}
