import ArgumentParser
import CompanionWire
import Discovery
import PairingAgent

/// How to look for hosts.
struct DiscoveryOptions: ParsableArguments {
    @Option(
        name: .customLong("engine"),
        help: "The mDNS engine: auto, daemon (Avahi over D-Bus) or embedded. Default: $PAIRTOOL_ENGINE, then auto."
    )
    var engineChoice: DiscoveryEngineChoice?

    @Option(
        help: "Use this network interface only, such as eth0 or lo. Default: $PAIRTOOL_INTERFACE, then all."
    )
    var interface: String?

    var choice: DiscoveryChoice { DiscoveryChoice(engine: engineChoice, interface: interface) }

    /// The engine that the options or the environment choose.
    func engine(context: CommandContext) throws -> DiscoveryEngineChoice {
        try choice.engine(context: context)
    }

    /// The interface that the options or the environment choose; nil means all.
    func interface(context: CommandContext) -> String? {
        choice.interface(context: context)
    }

    /// - Parameters:
    ///   - host: A paired host that is looked for. One that was on this machine alone advertises on `lo`: that is where
    ///     it is looked for without other choice.
    ///   - domain: The DNS domain to look in. Default: the local network.
    func client(
        context: CommandContext,
        findingAgain host: PairedHost? = nil,
        domain: String? = nil
    ) throws -> CompanionDiscoveryClient {
        let usual = host.flatMap { $0.endpoint.address.scope == .loopback ? "lo" : nil }
        return try choice.client(context: context, usualInterface: usual, domain: domain)
    }
}

extension DiscoveryEngineChoice: ExpressibleByArgument {}

/// A positive number of seconds on the command line.
struct Seconds {
    private static let range = 0.001...86_400

    var duration: Duration

    init(_ seconds: Int) {
        duration = .seconds(seconds)
    }

    /// - Throws: `ValidationError` that says what is valid.
    init(commandLine text: String) throws {
        let number = text.dropping(suffix: "s").map(String.init) ?? text
        guard let seconds = Double(number), Self.range.contains(seconds) else {
            throw ValidationError("Give a number of seconds from 0.001 to 86400 (a day).")
        }
        duration = .milliseconds(Int64((seconds * 1000).rounded(.up)))
    }
}
