import ArgumentParser
import CommandCore
import CompanionClient
import CompanionWire

/// The value of `--url`: an address, and whether only TLS will do there.
struct HostURL: Sendable, Hashable {
    /// The port of HTTPS where none is named (companion-v2, Ports and adverts).
    static let securePort = CompanionEndpoint.defaultPort + 1

    private var endpoint: CompanionEndpoint
    private var namesPort: Bool
    /// `https://`: this is where TLS is spoken, and nothing else is tried.
    var isSecure: Bool

    /// - Throws: `ValidationError` that says what is wrong with the text.
    init(commandLine text: String) throws {
        isSecure = text.lowercased().hasPrefix("https://")
        let rest = isSecure ? String(text.dropFirst("https://".count)) : text
        guard
            let endpoint = CompanionEndpoint(
                rest,
                defaultPort: isSecure ? Self.securePort : CompanionEndpoint.defaultPort
            ), !isSecure || !rest.lowercased().hasPrefix("http")
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
