import CompanionClient
import CompanionWire
import Discovery
import PairingAgent

/// Finds a paired host wherever it is now, and keeps where that was.
///
/// Before a host has proven itself it is sent nothing but a TLS handshake, or the question `GET /health` where it is a
/// legacy host.
struct HostFinder: Sendable {
    let host: PairedHost
    let output: Output
    let discovery: CompanionDiscoveryClient
    /// Whether a legacy host may be at another address without a question.
    let allowsLegacy: Bool

    /// How long advertisements are waited for where the engine does not say that all are in.
    static let browseLimit = Duration.seconds(6)

    /// The host's record, with the address at which it answers now.
    ///
    /// - Parameter named: The only addresses to try. Nil: wherever the host may be.
    /// - Throws: ``CommandError`` with exit code 10 where it is nowhere, 1 where others have shown another key in its
    ///   place, 13 for a legacy host that may be at another address and nobody said yes to that.
    func find(at named: [CompanionEndpoint]? = nil) async throws -> PairedHost {
        var search =
            named.map(HostSearch.init(named:)) ?? HostSearch(lastGood: host.endpoint, code: host.namedEndpoint)
        let prove = try prover()
        let found = try await withThrowingTaskGroup(of: Void.self) { group in
            let (events, sink) = AsyncStream.makeStream(of: HostSearch.Event.self)
            defer { group.cancelAll() }
            var actions = search.begin()
            var incoming = events.makeAsyncIterator()
            while true {
                for action in actions {
                    switch action {
                    case .attempt(let endpoint): group.addTask { sink.yield(await attempt(endpoint, prove)) }
                    case .browse: group.addTask { sink.yield(.browseEnded(await browse(sink))) }
                    case .use(let endpoint, let origin): return (endpoint: endpoint, origin: origin)
                    case .giveUp: throw failure(search)
                    }
                }
                guard let event = await incoming.next() else { throw CancellationError() }
                actions = search.take(event)
            }
        }
        for failure in search.tried where failure.error.code == .pinMismatch {
            output.say(TerminalText.line("\(failure.error.message) Looking elsewhere."))
        }
        return try await settle(at: found.endpoint, found.origin)
    }

    /// What an address has to do to count.
    private func prover() throws -> @Sendable (CompanionEndpoint) async throws -> Void {
        let configuration = CompanionClientConfiguration(timeouts: .lookup)
        if let pin = try host.security().certificate?.spki {
            return { _ = try await PinnedTLS.certificate(of: $0, expecting: pin, configuration: configuration) }
        }
        return { [host] endpoint in
            // Where it was it is spoken to as ever; elsewhere it should at least be a companion.
            guard endpoint != host.endpoint else {
                return try await TCPProbe.connect(to: endpoint, timeouts: .lookup)
            }
            try await CompanionAPIClient.withClient(endpoint: endpoint, configuration: configuration) {
                _ = try await $0.requireCompanion()
            }
        }
    }

    private func attempt(
        _ endpoint: CompanionEndpoint,
        _ prove: (CompanionEndpoint) async throws -> Void
    ) async -> HostSearch.Event {
        do {
            try await prove(endpoint)
            return .proved(endpoint)
        } catch {
            // Any other error is a cancellation: the result is not needed.
            let failed = CompanionClientError(.unreachable, "\(endpoint) was given up.", underlying: error)
            return .failed(endpoint, error as? CompanionClientError ?? failed)
        }
    }

    /// Looks for advertisements of the host's id.
    ///
    /// - Returns: What came of it, in words.
    private func browse(_ sink: AsyncStream<HostSearch.Event>.Continuation) async -> String {
        let host = host
        do {
            let snapshot = try await DiscoverySnapshot.run(
                client: discovery,
                types: [.companion, .companionShort],
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

// MARK: What is done with the outcome

extension HostFinder {
    /// Asks where that has to be, and keeps the address.
    private func settle(at endpoint: CompanionEndpoint, _ origin: HostSearch.Origin) async throws -> PairedHost {
        guard endpoint != host.endpoint else { return host }
        if host.trust == .legacy { try await consent(to: endpoint, origin) }
        try PairedHostStore(directory: output.context.paths.data).move(host, to: endpoint)
        output.say(TerminalText.line("\(host.name) moved to \(endpoint)."))
        var moved = host
        moved.endpoint = endpoint
        return moved
    }

    /// A legacy host proves nothing: only the user can tell whether it is the same.
    private func consent(to endpoint: CompanionEndpoint, _ origin: HostSearch.Origin) async throws {
        guard !allowsLegacy else { return }
        var error = CommandError(
            .legacyRefused,
            "host.moved_legacy",
            "\(host.name) may now be at \(endpoint), but as a legacy host it cannot prove that; only a health request "
                + "was sent there",
            next: "accept it: pairtool status --host \(origin == .named ? "\(endpoint)" : "\(host.id.prefix(8))") "
                + "--allow-legacy"
        )
        guard output.context.canAsk else { throw error }
        let place = endpoint.port == host.endpoint.port ? "\(endpoint.address)" : "\(endpoint)"
        output.say(
            "\(TerminalText.line(host.name)) was at \(host.endpoint). It cannot prove who it is (trust: legacy)."
        )
        guard try await Question(context: output.context).confirm("Is \(TerminalText.line(host.name)) now at \(place)?")
        else {
            error.message = "\(host.name) was not contacted at \(endpoint); its record was not changed"
            throw error
        }
    }

    private func failure(_ search: HostSearch) -> CommandError {
        let tried = search.tried
        let details =
            tried.map { "\($0.origin.rawValue): \($0.error.message)" } + (search.browseOutcome.map { [$0] } ?? [])
        // A key that is not the host's says more than a stranger, he more than silence, and that more than an address
        // that was not even tried.
        let ranks: [(CompanionClientError.Code) -> Bool] = [
            { $0 == .pinMismatch }, { ![.unreachable, .refusedAddress].contains($0) }, { $0 == .unreachable },
            { _ in true },
        ]
        let telling = ranks.lazy.compactMap { rank in tried.first { rank($0.error.code) } }.first
        guard let telling else {
            return CommandError(.unreachable, "host.unreachable", "\(host.name) has no address")
        }
        var error = CommandError(describing: telling.error)
        if ![.pinMismatch, .refusedAddress].contains(telling.error.code) {
            error = CommandError(
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
    func claims(in hosts: [DiscoveredHost]) -> [DiscoveredHost] {
        hosts.filter { $0.family == family && $0.id == id && !$0.endpoints.isEmpty }
    }

    /// Where the advertisements that claim to be this host lead to.
    ///
    /// Of a verified host these are all places where it may speak TLS, whatever a TXT record says: who writes one must
    /// not be able to hide another's.
    func candidates(in hosts: [DiscoveredHost]) -> [CompanionEndpoint] {
        claims(in: hosts).flatMap { claim in
            guard trust == .verified else {
                return PairingTarget(claim, endpoints: claim.endpoints, id: id).endpoints
            }
            let short = claim.endpoints.filter { $0.type == .companionShort }.map(\.endpoint)
            let plain = claim.endpoints.filter { $0.type != .companionShort }.map(\.endpoint)
            let ports = claim.txt["tls"].flatMap(Int.init).map { [$0] } ?? []
            let beside = plain.flatMap { place in
                (ports + [place.port + 1]).filter { (1...65535).contains($0) }
                    .map { CompanionEndpoint(address: place.address, port: $0) }
            }
            return short + beside
        }.unique
    }
}
