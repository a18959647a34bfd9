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
