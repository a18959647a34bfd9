import CompanionWire
import Logging
import Testing

@testable import CompanionClient

/// What OpenSSH 9.2 says on standard error when it fails, and what people are told.
@Suite struct SSHComplaintTests {
    private func route(_ text: String) throws -> SSHRoute {
        guard case .ssh(let route)? = HostRoute(text) else { throw CancellationError() }
        return route
    }

    @Test(
        "Each failure is known by its words",
        arguments: [
            (
                "No ED25519 host key is known for box and you have requested strict checking.\r\nHost key verification failed.\r\n",
                SSHComplaint.Kind.unknownHostKey
            ),
            (
                "@ WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED! @\r\nHost key verification failed.\r\n",
                .changedHostKey
            ),
            ("ada@box: Permission denied (publickey).\r\n", .permissionDenied),
            ("ssh: Could not resolve hostname box: Name or service not known\r\n", .unknownMachine),
            (
                "channel 0: open failed: connect failed: Connection refused\r\nstdio forwarding failed\r\n",
                .nothingListens
            ),
            (
                "channel 0: open failed: administratively prohibited: open failed\r\nstdio forwarding failed\r\n",
                .forwardingForbidden
            ),
            ("ssh: connect to host box port 22: Connection refused\r\n", .unreachable),
            ("ssh: connect to host box port 22: Connection timed out\r\n", .unreachable),
            ("something new\n", .other), ("", .other),
        ]
    )
    func kinds(said: String, kind: SSHComplaint.Kind) {
        #expect(SSHComplaint(said).kind == kind)
    }

    @Test("What is not known is shown as it is, without what a terminal would obey")
    func others() throws {
        let said = SSHComplaint("banner\n\u{1b}[31mno \u{202e}idea\u{7}\r\n")
        let message = said.message(about: try route("ssh://ada@box:2222"))
        #expect(message.hasPrefix("ssh to box failed: "))
        #expect(!message.unicodeScalars.contains { TerminalText.isUnsafe($0) })
    }

    @Test("The command that helps is the one that reaches the machine")
    func command() throws {
        let message = SSHComplaint("Permission denied").message(about: try route("ssh://ada@box:2222"))
        #expect(message.contains("ssh -p 2222 ada@box"))
    }

    @Test("ssh never asks, gets no option from a route, and connects to the host's own machine")
    func arguments() throws {
        let connection = SSHConnection(route: try route("ssh://ada@box:2222/9000"), logger: .init(label: "test"))
        #expect(
            connection.arguments == [
                "-T", "-o", "BatchMode=yes", "-W", "127.0.0.1:9000", "-l", "ada", "-p", "2222", "--", "box",
            ]
        )
        let six = SSHConnection(route: try route("ssh://[fd00::1]"), logger: .init(label: "test"))
        #expect(six.arguments.last == "fd00::1")
    }
}
