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
