import CompanionWire
import Identity
import PairingAgent
import Terminal

/// Reports what auto-pairing waits for, and why.
struct AutoReport: Sendable {
    let output: Output
    /// The places that are watched for codes.
    let places: String

    func show(_ report: AutoPairing.Report) {
        switch report {
        case .waiting(let hosts, let hasCode): wait(hosts, hasCode: hasCode)
        case .waitingFor(let id):
            let id = TerminalText.line(id.shortID)
            output.say("There is a code for the host \(id), which is not in sight. Waiting for it.")
        case .expired:
            output.warn(
                "auto.expired",
                "the code has expired",
                next: "show a new code on the host"
            )
        case .ambiguous(let hosts): tellApart(hosts)
        case .excluded(let name):
            output.warn("auto.excluded", "the code is for \(name), which --only excludes; nothing was sent")
        case .legacyRefused(let name):
            output.warn(
                "auto.legacy_refused",
                "\(name) uses plain HTTP and proves nothing (trust: legacy); nothing was sent",
                next: "if you trust everyone on this network, accept it with --allow-legacy"
            )
        case .permissionsUnknown(let name):
            output.warn(
                "auto.legacy_refused",
                "\(name) uses protocol 1, which has no permissions; nothing was sent",
                next: "leave out --read-only and --permission"
            )
        case .downgrade(let name, let other):
            output.warn(
                "auto.verified_host",
                "\(other) was paired as a verified host, but \(name) offers only plain HTTP; nothing was sent"
            )
        case .alreadyPaired(let name):
            output.say("\(TerminalText.line(name)) shows another code, but is paired already.")
        case .unreachable(let why):
            output.warn("auto.unreachable", "pairing is not possible yet: \(why); nothing was sent")
        case .failed(let why):
            output.warn("auto.failed", "not paired: \(why)", next: "show a new code on the host")
        }
    }

    private func wait(_ hosts: [String], hasCode: Bool) {
        switch (hosts.isEmpty, hasCode) {
        case (true, false): output.say("Waiting for a host, and for its code (\(places)).")
        case (true, true): output.say("There is a code. Waiting for its host.")
        case (false, false):
            let names = hosts.map(TerminalText.line).joined(separator: ", ")
            output.say("In sight: \(names). Waiting for a code (\(places)).")
        // An earlier report said why the code was not used.
        case (false, true): break
        }
    }

    private func tellApart(_ hosts: [AutoPairing.Host]) {
        let names = hosts.map { "\($0.name) (\($0.id.shortID))" }.joined(separator: ", ")
        output.warn(
            "auto.ambiguous",
            "the code does not name its host, and several are or were in sight: \(names); nothing was sent",
            next: "name one with --only, or show a new code when only one is in sight"
        )
    }
}
