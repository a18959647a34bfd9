import PairingAgent

/// Says what auto-pairing waits for, and why.
struct AutoReport: Sendable {
    let output: Output
    /// Where codes are looked for.
    let places: String

    func show(_ report: AutoPairing.Report) {
        switch report {
        case .waiting(let hosts, let hasCode): wait(hosts, hasCode)
        case .waitingFor(let id):
            let id = TerminalText.line(String(id.prefix(8)))
            output.say("There is a code of the host \(id), which is not in sight: waiting for it.")
        case .expired:
            output.warn(
                "auto.expired",
                "The code has expired, by this machine's clock: nothing was sent",
                next: "have the host show a new one"
            )
        case .ambiguous(let hosts): tellApart(hosts)
        case .excluded(let name):
            output.warn("auto.excluded", "The code is of \(name), which --only leaves out: nothing was sent")
        case .legacyRefused(let name):
            output.warn(
                "auto.legacy_refused",
                "\(name) speaks plain HTTP and proves nothing (trust: legacy): nothing was sent",
                next: "accept it with --allow-legacy, where you trust everyone on this network"
            )
        case .permissionsUnknown(let name):
            output.warn(
                "auto.legacy_refused",
                "\(name) speaks protocol 1, which knows no permissions: nothing was sent",
                next: "leave out --read-only and --permission"
            )
        case .downgrade(let name, let other):
            output.warn(
                "auto.verified_host",
                "\(other) was paired with proof before, and \(name) offers plain HTTP in its place: nothing was sent"
            )
        case .alreadyPaired(let name):
            output.say("\(TerminalText.line(name)) shows another code, but is paired by now.")
        case .unreachable(let why):
            output.warn("auto.unreachable", "The host cannot be paired with yet: \(why). Nothing was sent")
        case .failed(let why):
            output.warn("auto.failed", "Not paired: \(why)", next: "have the host show a new code")
        }
    }

    private func wait(_ hosts: [String], _ hasCode: Bool) {
        switch (hosts.isEmpty, hasCode) {
        case (true, false): output.say("Waiting for a host, and for its code (\(places)).")
        case (true, true): output.say("There is a code. Waiting for its host.")
        case (false, false):
            let names = hosts.map(TerminalText.line).joined(separator: ", ")
            output.say("In sight: \(names). Waiting for a code (\(places)).")
        // Why it was not used has been said.
        case (false, true): break
        }
    }

    private func tellApart(_ hosts: [AutoPairing.Host]) {
        let names = hosts.map { "\($0.name) (\($0.id.prefix(8)))" }.joined(separator: ", ")
        output.warn(
            "auto.ambiguous",
            "The code does not say which host it is of, and there are or were several: \(names). Nothing was sent",
            next: "name one with --only NAME or ID, or have a new code shown when only one is there"
        )
    }
}
