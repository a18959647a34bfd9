import CompanionApp
import Discovery

/// Which engine looks for hosts, and on which interface. The command line takes precedence over the environment.
struct DiscoveryChoice: Hashable, Sendable {
    /// nil: the engine that `PAIRTOOL_ENGINE` names, else `auto`.
    var engine: DiscoveryEngineChoice?
    /// nil: the interface that `PAIRTOOL_INTERFACE` names, else all.
    var interface: String?

    /// The engine from the options or the environment.
    ///
    /// - Throws: ``AppError`` if the environment names an unknown engine.
    func engine(context: CommandContext) throws -> DiscoveryEngineChoice {
        if let engine { return engine }
        guard let word = context.environment["PAIRTOOL_ENGINE"], !word.isEmpty else { return .auto }
        guard let engine = DiscoveryEngineChoice(rawValue: word) else {
            throw AppError(
                .usage,
                "discovery.engine",
                "PAIRTOOL_ENGINE is “\(word)”; it must be auto, daemon or embedded"
            )
        }
        return engine
    }

    /// The interface from the options or the environment; nil means all.
    func interface(context: CommandContext) -> String? {
        interface ?? context.environment["PAIRTOOL_INTERFACE"].flatMap { $0.isEmpty ? nil : $0 }
    }

    /// - Parameters:
    ///   - usualInterface: The interface if neither the options nor the environment name one. Default: nil, all.
    ///   - choice: An engine that replaces the one from the options.
    ///   - domain: The DNS domain to look in. Default: the local network.
    func client(
        context: CommandContext,
        usualInterface: String? = nil,
        engine choice: DiscoveryEngineChoice? = nil,
        domain: String? = nil
    ) throws -> CompanionDiscoveryClient {
        CompanionDiscoveryClient(
            engine: try choice ?? engine(context: context),
            interface: interface(context: context) ?? usualInterface,
            domain: domain,
            logger: LoggingSetup.logger("discovery", context: context)
        )
    }
}
