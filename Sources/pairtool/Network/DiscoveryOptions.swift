import ArgumentParser
import CompanionWire
import Discovery
import Identity

/// Options for discovery.
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

    /// The engine from the options or the environment.
    ///
    /// - Throws: ``AppError`` if the environment names an unknown engine.
    func engine(context: CommandContext) throws -> DiscoveryEngineChoice {
        try choice.engine(context: context)
    }

    /// The interface from the options or the environment; nil means all.
    func interface(context: CommandContext) -> String? {
        choice.interface(context: context)
    }

    /// - Parameters:
    ///   - host: The paired host to look for. A host that was last reached on this machine advertises on `lo`, so that
    ///     is the default interface for it.
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
