import CompanionClient
import CompanionWire
package import Discovery
package import Identity
import LocalState
import PairingAgent

/// Finds the current address of a paired host and stores it.
///
/// Until a host has proven its identity, pairtool sends it only a TLS handshake, or `GET /health` if it is a legacy
/// host.
package struct HostFinder: Sendable {
    let host: PairedHost
    let environment: AppEnvironment
    let discovery: CompanionDiscoveryClient
    /// Whether to accept a legacy host at a new address without asking the user.
    let allowsLegacy: Bool
    /// Whether advertised link-local addresses are tried: a client that has begun cannot use another one, since the HTTP
    /// library learns zones at its start only.
    var usesLinkLocal = true

    package init(host: PairedHost, environment: AppEnvironment, discovery: CompanionDiscoveryClient, allowsLegacy: Bool)
    {
        self.host = host
        self.environment = environment
        self.discovery = discovery
        self.allowsLegacy = allowsLegacy
    }

    /// How long to wait for advertisements if the discovery engine does not report that all have arrived.
    static let browseLimit = Duration.seconds(6)
    /// Attempts at an address where the connection ends early.
    private static let attempts = 4

    /// The host's record with its current address.
    ///
    /// - Parameter named: The only places to try; nil tries every known and advertised one.
    /// - Throws: ``AppError`` with exit code 10 if the host is not found, 1 if something with another key answered
    ///   instead, 13 if a legacy host may be at a new address and the user did not agree to it.
    func find(at named: [HostPlace]? = nil) async throws -> PairedHost {
        var search =
            named.map(HostSearch.init(named:))
            ?? HostSearch(
                lastGood: host.isFar == true ? nil : host.endpoint,
                code: host.isFar == true ? nil : host.namedEndpoint,
                routes: host.routes ?? [],
                wasElsewhere: host.via != nil,
                usesLinkLocal: usesLinkLocal
            )
        let prove = try prover()
        let found = try await withThrowingTaskGroup(of: Void.self) { group in
            let (events, sink) = AsyncStream.makeStream(of: HostSearch.Event.self)
            defer { group.cancelAll() }
            var actions = search.begin()
            var incoming = events.makeAsyncIterator()
            while true {
                for action in actions {
                    switch action {
                    case .attempt(let place): group.addTask { sink.yield(await attempt(place, prove)) }
                    case .browse: group.addTask { sink.yield(.browseEnded(await browse(sink))) }
                    case .pause:
                        group.addTask {
                            try await environment.clock.sleep(for: HostPlace.routeDelay)
                            sink.yield(.pauseEnded)
                        }
                    case .use(let place, let origin): return (place: place, origin: origin)
                    case .giveUp: throw failure(search)
                    }
                }
                guard let event = await incoming.next() else { throw CancellationError() }
                actions = search.take(event)
            }
        }
        for failure in search.tried where failure.error.code == .pinMismatch {
            environment.interaction.say(TerminalText.line("\(failure.error.message) Looking elsewhere."))
        }
        return try await settle(at: found.place, origin: found.origin)
    }

    /// The check that a place has to pass before the host may be there.
    private func prover() throws -> @Sendable (HostPlace) async throws -> Void {
        let prove = try host.family.behavior.prover(of: host)
        return { place in
            switch place {
            case .address(let endpoint): try await prove(endpoint)
            case .route(let route): try await host.prove(at: route, in: environment)
            }
        }
    }

    private func attempt(
        _ place: HostPlace,
        _ prove: (HostPlace) async throws -> Void
    ) async -> HostSearch.Event {
        do {
            var attempts = 1
            while true {
                do {
                    try await prove(place)
                    return .proved(place)
                } catch let error as CompanionClientError where error.isCut && attempts < Self.attempts {
                    // Something is there, and lines that break may hold the next time.
                    attempts += 1
                }
            }
        } catch {
            // Any other error is a cancellation: the result is not needed.
            let failed = CompanionClientError(.unreachable, message: "\(place) was given up.", underlying: error)
            return .failed(place, error as? CompanionClientError ?? failed)
        }
    }

    /// Looks for advertisements of the host's id.
    ///
    /// - Returns: The outcome, as text for the user.
    private func browse(_ sink: AsyncStream<HostSearch.Event>.Continuation) async -> String {
        let host = host
        do {
            let snapshot = try await DiscoverySnapshot.run(
                client: discovery,
                types: host.family.behavior.facts.followedTypes,
                limit: Self.browseLimit
            ) { snapshot in
                // The key identifies the host, so every claim is checked as it arrives.
                if host.trust == .verified { sink.yield(.advertised(host.candidates(in: snapshot.hosts))) }
                return snapshot.isSettled
            }
            let claims = host.claims(in: snapshot.hosts)
            guard let claim = claims.first else {
                return "mDNS (\(snapshot.engine.rawValue) engine): no host advertises its id"
                    + (snapshot.problem.map { "; \($0)" } ?? "")
            }
            guard host.trust == .verified || !claim.isClaimedBySeveralMachines else {
                let addresses = host.candidates(in: claims).map(\.description).joined(separator: ", ")
                return "mDNS: several machines advertise its id: \(addresses)"
            }
            sink.yield(.advertised(host.candidates(in: claims)))
            return "mDNS: its id is advertised"
        } catch {
            return "mDNS: \(error)"
        }
    }
}

// MARK: Outcome

extension HostFinder {
    /// Asks the user if that is needed for this place, stores it, and says when it is another than before.
    private func settle(at place: HostPlace, origin: HostSearch.Origin) async throws -> PairedHost {
        var found = host
        switch place {
        case .address(let endpoint):
            (found.endpoint, found.via, found.isFar) = (endpoint, nil, nil)
            guard found != host else { return host }
            if host.trust == .legacy { try await consent(to: endpoint, origin: origin) }
        case .route(let route):
            found.via = route
            // A route that was named once is not one of the record.
            guard found != host, host.routes?.contains(route) == true else { return found }
        }
        try PairedHostStore(directory: environment.paths.data).move(found)
        let what =
            switch place {
            case .address(let endpoint) where endpoint != host.endpoint: "moved to \(endpoint)"
            case .address: "is reached directly again"
            case .route(let route): "is reached via \(route.rung.rawValue) now (\(route.place))"
            }
        environment.interaction.say(TerminalText.line("\(host.name) \(what)."))
        return found
    }

    /// A legacy host has no key to prove its identity with, so only the user can decide whether it is the same host.
    private func consent(to endpoint: CompanionEndpoint, origin: HostSearch.Origin) async throws {
        guard !allowsLegacy else { return }
        var error = AppError(
            .legacyRefused,
            "host.moved_legacy",
            "\(host.name) may now be at \(endpoint), but as a legacy host it cannot prove that; only a health request "
                + "was sent there",
            next: "accept it: pairtool status --host \(origin == .named ? "\(endpoint)" : "\(host.id.shortID)") "
                + "--allow-legacy"
        )
        guard environment.interaction.canAsk else { throw error }
        let place = endpoint.port == host.endpoint.port ? "\(endpoint.address)" : "\(endpoint)"
        environment.interaction.say(
            "\(TerminalText.line(host.name)) was at \(host.endpoint). It cannot prove who it is (trust: legacy)."
        )
        guard try await environment.interaction.confirm("Is \(TerminalText.line(host.name)) now at \(place)?")
        else {
            error.message = "\(host.name) was not contacted at \(endpoint); its record was not changed"
            throw error
        }
    }

    private func failure(_ search: HostSearch) -> AppError {
        let tried = search.tried
        let details =
            tried.map { "\($0.origin.rawValue): \($0.error.message)" } + (search.browseOutcome.map { [$0] } ?? [])
        // Report the most telling failure: first a wrong key, then another program that answered, then no answer, then
        // an address that was not tried.
        let ranks: [(CompanionClientError.Code) -> Bool] = [
            { $0 == .pinMismatch }, { ![.unreachable, .refusedAddress].contains($0) }, { $0 == .unreachable },
            { _ in true },
        ]
        let telling = ranks.lazy.compactMap { rank in tried.first { rank($0.error.code) } }.first
        guard let telling else {
            return AppError(.unreachable, "host.unreachable", "\(host.name) has no address")
        }
        var error = AppError(describing: telling.error)
        if ![.pinMismatch, .refusedAddress].contains(telling.error.code) {
            error = AppError(
                .unreachable,
                error.code,
                "\(host.title) was not found",
                next: "check that the host is on and on this network (pairtool discover --probe), or name its address: "
                    + "--host ADDRESS"
            )
        }
        error.details = details
        return error
    }
}

extension PairedHost {
    /// The advertisements that claim to be this host.
    package func claims(in hosts: [DiscoveredHost]) -> [DiscoveredHost] {
        hosts.filter { $0.family == family && $0.id == id && !$0.endpoints.isEmpty }
    }

    /// The addresses in the advertisements that claim to be this host.
    func candidates(in hosts: [DiscoveredHost]) -> [CompanionEndpoint] {
        family.behavior.places(of: self, in: claims(in: hosts))
    }
}
