import ArgumentParser
import CompanionApp
import Discovery

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
}

extension DiscoveryEngineChoice: ExpressibleByArgument {}
