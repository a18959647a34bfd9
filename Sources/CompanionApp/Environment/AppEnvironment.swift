package import CompanionClient
import CompanionWire
package import Discovery
package import FoundationEssentials
package import History
package import LocalState
package import Logging
package import PairingAgent

/// The surroundings of a task: where its files are, what time it is, and who its user is. A user interface makes it
/// once and passes it on.
package struct AppEnvironment: Sendable {
    package var paths: Paths
    /// The environment variables.
    package var variables: [String: String]
    package var now: @Sendable () -> Date
    /// The clock for pauses between requests to a host.
    package var clock: any Clock<Duration>
    /// How long a task that asks several hosts waits for each, unless the user says otherwise.
    package var hostLimit: Duration
    /// How hosts are looked for.
    package var discovery: DiscoveryChoice
    package var interaction: any Interaction
    /// A logger for a part of the program.
    package var logger: @Sendable (_ label: String) -> Logger
    /// The bytes of a file that the user names, or of standard input for `-`; nil if there are more than the limit.
    package var content: @Sendable (_ file: String, _ limit: Int) async throws -> [UInt8]?
    /// The limits of the local history; nil if the user wants none. The user is warned once if the choice cannot be
    /// read.
    package var historyLimits: @Sendable () -> HistoryLimits?
    /// Whether a notification of a kind is to be shown on the desktop now.
    package var notifies: @Sendable (NotificationKind) -> Bool

    package init(
        paths: Paths,
        variables: [String: String],
        now: @escaping @Sendable () -> Date,
        clock: any Clock<Duration>,
        hostLimit: Duration,
        discovery: DiscoveryChoice,
        interaction: any Interaction,
        logger: @escaping @Sendable (_ label: String) -> Logger,
        content: @escaping @Sendable (_ file: String, _ limit: Int) async throws -> [UInt8]?,
        historyLimits: @escaping @Sendable () -> HistoryLimits?,
        notifies: @escaping @Sendable (NotificationKind) -> Bool
    ) {
        self.paths = paths
        self.variables = variables
        self.now = now
        self.clock = clock
        self.hostLimit = hostLimit
        self.discovery = discovery
        self.interaction = interaction
        self.logger = logger
        self.content = content
        self.historyLimits = historyLimits
        self.notifies = notifies
    }

    /// The same without questions, for tasks that run at the same time.
    package func muted() -> AppEnvironment {
        var environment = self
        environment.interaction = MutedInteraction(interaction)
        return environment
    }
}

/// The kinds of desktop notifications about turns.
package enum NotificationKind: String, Sendable, CaseIterable {
    /// A turn has ended that took long.
    case finished
    /// The agent asks something.
    case question
    /// An error has ended a turn that took long.
    case error
}

extension AppEnvironment {
    /// The settings of tunnels to hosts.
    package var tunnels: Tunnel.Settings {
        Tunnel.Settings(directory: paths.runtime, keys: paths.data, logger: logger("tunnel"))
    }

    /// The path with the home directory in place of `~`.
    package func expanded(_ path: String) -> String { HomePath.expanded(path, variables) }

    /// The bytes of a file, as ``content`` has them, where `-` is a file like any other.
    func fileContent(_ path: String, _ limit: Int) async throws -> [UInt8]? {
        try await content(path.isSame(as: "-") ? "./-" : path, limit)
    }

    /// The value of `PAIRTOOL_HOST`; nil if it is unset or empty.
    package var hostVariable: String? { variables["PAIRTOOL_HOST"].flatMap { $0.isEmpty ? nil : $0 } }

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
