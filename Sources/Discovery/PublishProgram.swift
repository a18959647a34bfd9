/// Publishing as a state machine: waits for the engine's host name, renames after collisions, publishes again after
/// the engine was lost.
package struct PublishProgram: EngineProgram {
    /// How often a name is changed before the attempt counts as failed.
    package static let renameLimit = 100

    private var engine = DiscoveryEngineKind.embedded
    private let alternative: @Sendable (String) -> String
    private var name: String
    private var renames = 0
    private var wasInterrupted = false

    /// - Parameters:
    ///   - name: The instance name to begin with.
    ///   - alternative: Returns the name to try when one is taken.
    package init(name: String, alternative: @escaping @Sendable (String) -> String) {
        self.name = name
        self.alternative = alternative
    }

    package mutating func connected(to engine: DiscoveryEngineKind) -> [EngineCommand<AdvertisementEvent>] {
        self.engine = engine
        renames = 0
        return []
    }

    package mutating func handle(_ event: EngineEvent) -> [EngineCommand<AdvertisementEvent>] {
        switch event {
        case .ready:
            return [.publish(name: name)]
        case .registering:
            // The host name is in doubt: services that point to it must not be offered (Avahi's "good publishing").
            return [.withdraw]
        case .hostNameCollision:
            return [.withdraw, .renameHost]
        case .published:
            renames = 0
            defer { wasInterrupted = false }
            let resumed: [EngineCommand<AdvertisementEvent>] = wasInterrupted ? [.emit(.resumed)] : []
            return resumed + [.emit(.published(name: name, engine: engine))]
        case .nameCollision:
            return rename()
        case .publishFailed(let error):
            return [.reconnect(error)]
        case .found, .left, .allForNow, .resolved, .answered, .resolveFailed, .retryDue, .woke, .lost:
            return []
        }
    }

    package mutating func disconnected(_ error: DiscoveryError) -> [EngineCommand<AdvertisementEvent>] {
        wasInterrupted = true
        return [.emit(.interrupted(error))]
    }

    private mutating func rename() -> [EngineCommand<AdvertisementEvent>] {
        guard renames < Self.renameLimit else {
            let message = "the name \(name) is taken, and so were \(Self.renameLimit) others before it"
            return [.reconnect(DiscoveryError(.nameCollision, message: message))]
        }
        renames += 1
        let old = name
        name = alternative(old)
        return [.emit(.renamed(from: old, to: name)), .publish(name: name)]
    }
}
