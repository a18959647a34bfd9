import ArgumentParser
import Discovery

/// How to look for hosts.
struct DiscoveryOptions: ParsableArguments {
    @Option(help: "The mDNS engine: auto, daemon (Avahi over D-Bus) or embedded.")
    var engine: DiscoveryEngineChoice = .auto

    @Option(help: "Look on this network interface only, for example eth0 or lo.")
    var interface: String?

    /// - Parameters:
    ///   - engine: Another choice than that of the command line.
    ///   - domain: The DNS domain to look in. Default: the local network.
    func client(
        context: CommandContext,
        engine: DiscoveryEngineChoice? = nil,
        domain: String? = nil
    ) -> CompanionDiscoveryClient {
        CompanionDiscoveryClient(
            engine: engine ?? self.engine,
            interface: interface,
            domain: domain,
            logger: LoggingSetup.logger("discovery", context: context)
        )
    }
}

extension DiscoveryEngineChoice: ExpressibleByArgument {}

extension ServiceType: ExpressibleByArgument {
    package init?(argument: String) {
        self.init(argument)
    }
}

/// A positive number of seconds on the command line.
struct Seconds: ExpressibleByArgument {
    private static let range = 0.001...86_400

    var duration: Duration

    init(_ seconds: Int) {
        duration = .seconds(seconds)
    }

    init?(argument: String) {
        let text = argument.hasSuffix("s") ? String(argument.dropLast()) : argument
        guard let seconds = Double(text), Self.range.contains(seconds) else { return nil }
        duration = .milliseconds(Int64((seconds * 1000).rounded(.up)))
    }

    var defaultValueDescription: String { "\(duration.components.seconds)" }
}
