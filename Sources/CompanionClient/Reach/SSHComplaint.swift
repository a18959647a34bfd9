import CompanionWire

/// The complaint of an `ssh` that ended with an error, in words of ours.
///
/// OpenSSH does not translate its messages; what is not known is shown as it is.
struct SSHComplaint: Sendable, Hashable {
    enum Kind: Sendable, Hashable {
        case unknownHostKey, changedHostKey, permissionDenied, unknownMachine, unreachable, forwardingForbidden
        /// ssh arrived, but nothing listens at the port of the host there.
        case nothingListens
        case other
    }

    let kind: Kind
    /// The last line that ssh said.
    private let lastLine: String

    /// The phrases of ssh and their meanings: the first that is found counts.
    private static let phrases: [(text: String, kind: Kind)] = [
        ("REMOTE HOST IDENTIFICATION HAS CHANGED", .changedHostKey),
        ("Host key verification failed", .unknownHostKey),
        ("Permission denied", .permissionDenied),
        ("Too many authentication failures", .permissionDenied),
        ("Could not resolve hostname", .unknownMachine),
        ("administratively prohibited", .forwardingForbidden),
        ("open failed", .nothingListens),
        ("stdio forwarding failed", .nothingListens),
        ("Connection refused", .unreachable),
        ("timed out", .unreachable),
        ("No route to host", .unreachable),
        ("Network is unreachable", .unreachable),
        ("Connection closed", .unreachable),
        ("Connection reset", .unreachable),
    ]

    init(_ text: String) {
        kind = Self.phrases.first { text.has($0.text) }?.kind ?? .other
        let lines = text.parts("\n").map { String($0).trimmingWhitespace() }.filter { !$0.isEmpty }
        lastLine = TerminalText.line(lines.last ?? "").oneLine(atMost: 200)
    }

    /// A sentence, with the command that helps.
    func message(about route: SSHRoute) -> String {
        let machine = route.machine.host
        let byHand =
            "ssh " + (route.machine.port.map { "-p \($0) " } ?? "")
            + (route.user.map { "\($0)@" } ?? "") + machine
        return switch kind {
        case .unknownHostKey: "ssh does not know the key of \(machine): log in there once by hand (\(byHand))."
        case .changedHostKey:
            "The key of \(machine) is not the one that ssh knows: someone may be intercepting the connection, or the "
                + "machine was set up again (\(byHand) says more)."
        case .permissionDenied:
            "\(machine) does not let you in: ssh needs a key that works without a question (\(byHand) must log in "
                + "without a password; ssh-add, ssh-copy-id)."
        case .unknownMachine: "ssh knows no machine called \(machine)."
        case .forwardingForbidden: "The ssh server of \(machine) forbids forwarding (AllowTcpForwarding)."
        case .nothingListens:
            "ssh reaches \(machine), but no host listens there at port \(route.hostPort): start it (pairtool host), or "
                + "name its port: ssh://\(route.destination)/PORT."
        case .unreachable: "ssh does not reach \(machine): \(lastLine)"
        case .other: lastLine.isEmpty ? "ssh to \(machine) failed." : "ssh to \(machine) failed: \(lastLine)"
        }
    }
}
