import ArgumentParser
import CompanionClient
import CompanionWire

/// The value of `--url`: an address, and whether only TLS will do there.
struct HostURL: Sendable, Hashable {
    /// The port of HTTPS where none is named (companion-v2, Ports and adverts).
    static let securePort = PairingPayload.defaultPort

    private var endpoint: CompanionEndpoint
    private var namesPort: Bool
    /// `https://`: this is where TLS is spoken, and nothing else is tried.
    var isSecure: Bool

    /// - Throws: `ValidationError` that says what is wrong with the text.
    init(commandLine text: String) throws {
        // WebSocket URLs are those of AICLI hosts.
        var text = text
        for (webSocket, http) in [("ws://", "http://"), ("wss://", "https://")] {
            if let rest = text.dropping(prefix: webSocket, ignoringCase: true) { text = http + rest }
        }
        let afterScheme = text.dropping(prefix: "https://", ignoringCase: true)
        isSecure = afterScheme != nil
        let rest = afterScheme.map(String.init) ?? text
        guard
            let endpoint = CompanionEndpoint(
                rest,
                defaultPort: isSecure ? Self.securePort : CompanionEndpoint.defaultPort
            ), !isSecure || rest.dropping(prefix: "http", ignoringCase: true) == nil
        else {
            throw ValidationError(
                "“\(TerminalText.line(text))” is no address: give an IP address and, if it is not 7878, a port from 1 to "
                    + "65535, such as 192.168.1.5 or http://192.168.1.5:7878. Names are not looked up, and there is no path."
            )
        }
        self.endpoint = endpoint
        namesPort = CompanionEndpoint(rest, defaultPort: 1)?.port == endpoint.port
    }

    /// Where it leads, with the family's own port if the user names none.
    func endpoint(of family: HostFamily) -> CompanionEndpoint {
        // The port of HTTPS is CopilotForge's, too.
        guard !namesPort, family != .copilotforge else { return endpoint }
        return CompanionEndpoint(address: endpoint.address, port: family.usualPort)
    }
}

extension HostFamily: ExpressibleByArgument {}
