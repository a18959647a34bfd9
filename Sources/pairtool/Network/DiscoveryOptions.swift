import ArgumentParser
import CompanionApp
import CompanionWire
import Discovery
import PairingAgent

/// Options for discovery.
struct DiscoveryOptions: ParsableArguments {
    @Option(
        name: .customLong("engine"),
        help: "The mDNS engine: auto, daemon (Avahi over D-Bus) or embedded. Default: $PAIRTOOL_ENGINE, then auto."
    )
    var engineChoice: DiscoveryEngineChoice?

    @Option(
        help: ArgumentHelp(
            "Use this network interface only, such as eth0 or lo. Default: $PAIRTOOL_INTERFACE, then all.",
            valueName: "if"
        )
    )
    var interface: String?

    var choice: DiscoveryChoice { DiscoveryChoice(engine: engineChoice, interface: interface) }
}

extension DiscoveryEngineChoice: ExpressibleByArgument {}

extension HostFamily: ExpressibleByArgument {}

extension RequiredTrust: ExpressibleByArgument {}

/// The value of `--pin`.
extension CertificatePin: ExpressibleByArgument {
    init?(argument: String) { self.init(argument) }
}

extension HostURL {
    /// The value of `--url`.
    ///
    /// - Throws: `ValidationError` that explains what is wrong with the text.
    init(commandLine text: String) throws {
        guard let url = HostURL(text) else {
            throw ValidationError(
                "“\(TerminalText.line(text))” is not an address. Give an IP address or a name that ends in .local, and a port "
                    + "if it is not 7878, such as http://192.168.1.5:7878 or mac.local; any other name with https://, such "
                    + "as https://box.example:7879; or ssh://MACHINE. Paths are not accepted."
            )
        }
        self = url
    }
}

extension RelayAddress {
    /// The address of a relay.
    ///
    /// - Throws: `ValidationError` for anything else.
    init(commandLine text: String) throws {
        guard let address = RelayAddress(text) else {
            throw ValidationError(
                "“\(TerminalText.line(text))” is not the address of a relay. Give relay://MACHINE[:PORT]/[?id=…], as the "
                    + "relay prints it when it starts."
            )
        }
        self = address
    }
}
