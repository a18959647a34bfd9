package import Discovery
import PairingAgent

/// Which engine looks for hosts, and on which interface. It takes precedence over the environment variables.
package struct DiscoveryChoice: Hashable, Sendable {
    /// nil: the engine that `PAIRTOOL_ENGINE` names, else `auto`.
    package var engine: DiscoveryEngineChoice?
    /// nil: the interface that `PAIRTOOL_INTERFACE` names, else all.
    package var interface: String?

    package init(engine: DiscoveryEngineChoice? = nil, interface: String? = nil) {
        self.engine = engine
        self.interface = interface
    }
}

extension AppEnvironment {
    /// The engine that looks for hosts.
    ///
    /// - Throws: ``AppError`` if `PAIRTOOL_ENGINE` names an unknown engine.
    package var discoveryEngine: DiscoveryEngineChoice {
        get throws {
            if let engine = discovery.engine { return engine }
            guard let word = variables["PAIRTOOL_ENGINE"], !word.isEmpty else { return .auto }
            guard let engine = DiscoveryEngineChoice(rawValue: word) else {
                throw AppError(
                    .usage,
                    "discovery.engine",
                    "PAIRTOOL_ENGINE is “\(word)”; it must be auto, daemon or embedded"
                )
            }
            return engine
        }
    }

    /// The interface on which hosts are looked for; nil means all.
    package var discoveryInterface: String? {
        discovery.interface ?? variables["PAIRTOOL_INTERFACE"].flatMap { $0.isEmpty ? nil : $0 }
    }

    /// A client that looks for hosts.
    ///
    /// - Parameters:
    ///   - usualInterface: The interface if none was chosen. Default: nil, all.
    ///   - engine: An engine that replaces the chosen one.
    ///   - domain: The DNS domain to look in. Default: the local network.
    /// - Throws: ``AppError`` if `PAIRTOOL_ENGINE` names an unknown engine.
    package func discoveryClient(
        usualInterface: String? = nil,
        engine: DiscoveryEngineChoice? = nil,
        domain: String? = nil
    ) throws -> CompanionDiscoveryClient {
        CompanionDiscoveryClient(
            engine: try engine ?? discoveryEngine,
            interface: discoveryInterface ?? usualInterface,
            domain: domain,
            logger: logger("discovery")
        )
    }
}
