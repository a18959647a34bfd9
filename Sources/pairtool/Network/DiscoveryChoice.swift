import Discovery

/// Which engine looks for hosts, and where: the command line's word, else the environment's.
struct DiscoveryChoice: Hashable, Sendable {
    /// nil: what `PAIRTOOL_ENGINE` names, else `auto`.
    var engine: DiscoveryEngineChoice?
    /// nil: what `PAIRTOOL_INTERFACE` names, else all.
    var interface: String?

    /// The engine that the options or the environment choose.
    ///
    /// - Throws: ``CommandError`` where the environment names none that there is.
    func engine(context: CommandContext) throws -> DiscoveryEngineChoice {
        if let engine { return engine }
        guard let word = context.environment["PAIRTOOL_ENGINE"], !word.isEmpty else { return .auto }
        guard let engine = DiscoveryEngineChoice(rawValue: word) else {
            throw CommandError(
                .usage,
                "discovery.engine",
                "PAIRTOOL_ENGINE is “\(word)”; it must be auto, daemon or embedded"
            )
        }
        return engine
    }

    /// The interface that the options or the environment choose; nil means all.
    func interface(context: CommandContext) -> String? {
        interface ?? context.environment["PAIRTOOL_INTERFACE"].flatMap { $0.isEmpty ? nil : $0 }
    }

    /// - Parameters:
    ///   - usualInterface: The interface without other choice. Default: nil, all.
    ///   - choice: Another engine than that of the options.
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
