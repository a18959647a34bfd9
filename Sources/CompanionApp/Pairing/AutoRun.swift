import CompanionClient
package import CompanionWire
import Desktop
package import Discovery
import FoundationEssentials
import Identity
import LocalState
package import PairingAgent

/// Drives an ``AutoPairing``: passes it hosts from the network and codes from their sources, and carries out its
/// actions.
package struct AutoRun: Sendable {
    let rules: AutoPairing.Rules
    let sources: [CodeSource]
    /// The host that the user named by its address; all others are ignored.
    let named: PairingTarget?
    let device: PairingDevice
    let permissions: [CompanionPermission]
    let environment: AppEnvironment
    let hints: any CodeHints
    /// Reports what is waited for, and the places that are still watched.
    let report: @Sendable (AutoPairing.Report, _ places: String) -> Void
    /// Reports a pairing.
    let paired: @Sendable (PairingOutcome) -> Void

    package init(
        rules: AutoPairing.Rules,
        sources: [CodeSource],
        named: PairingTarget?,
        device: PairingDevice,
        permissions: [CompanionPermission],
        environment: AppEnvironment,
        hints: any CodeHints,
        report: @escaping @Sendable (AutoPairing.Report, _ places: String) -> Void,
        paired: @escaping @Sendable (PairingOutcome) -> Void
    ) {
        self.rules = rules
        self.sources = sources
        self.named = named
        self.device = device
        self.permissions = permissions
        self.environment = environment
        self.hints = hints
        self.report = report
        self.paired = paired
    }

    private var interaction: any Interaction { environment.interaction }

    /// An input of the loop.
    private enum Input: Sendable {
        case discovery(DiscoveryEvent)
        case code(CodeEvent)
        case sourceEnded(CodeSource, any Error)
        case routed(PairingTarget, PairingRoute)
        case unreachable(String)
        case paired(PairingOutcome)
        case failed(any Error)
        /// The code is over by the host's clock.
        case expired
        case sourceReady
        case tick
    }

    /// The state of the loop.
    private struct State {
        var machine: AutoPairing
        var adverts: AdvertTable
        /// The code in use, and the host that it is sent to.
        var payload: PairingPayload?
        var target: PairingTarget?
        var route: PairingRoute?
        /// The places that are still watched.
        var openSources: [CodeSource]
        /// How many sources are not ready yet.
        var unreadySources: Int
        var told: Set<String> = []

        var places: String { openSources.map(\.name).joined(separator: ", ") }
    }

    /// Waits for codes and pairs, until it is cancelled or, unless the rules say to continue, has paired once.
    ///
    /// - Returns: The id of the host that it paired with.
    /// - Throws: An error that keeps it from finding hosts, or codes in all of the places.
    package func run(client: CompanionDiscoveryClient) async throws -> String {
        guard named == nil else { return try await attend(AsyncStream { _ in }) }
        return try await client.withBrowse(types: ServiceType.all(ofHostsWith: .picture), watching: true) { _, events in
            try await attend(events)
        }
    }

    private func attend(_ events: AsyncStream<DiscoveryEvent>) async throws -> String {
        let (inputs, input) = AsyncStream.makeStream(of: Input.self)
        return try await withThrowingTaskGroup(of: Void.self) { group in
            defer { group.cancelAll() }
            group.addTask { for await event in events { input.yield(.discovery(event)) } }
            group.addTask { while (try? await Task.sleep(for: .seconds(1))) != nil { input.yield(.tick) } }
            for source in sources {
                group.addTask {
                    var isReady = false
                    let ready = {
                        isReady = true
                        input.yield(.sourceReady)
                    }
                    do {
                        try await source.run(environment, hints: hints, ready: ready) { input.yield(.code($0)) }
                    } catch {
                        input.yield(.sourceEnded(source, error))
                        if !isReady { input.yield(.sourceReady) }
                    }
                }
            }
            let (sights, sighted) = AsyncStream.makeStream(of: Sight.self, bufferingPolicy: .bufferingNewest(64))
            group.addTask {
                await HostDeliveries().run(sights, host: waitingHost, send: sendWaiting(to:))
            }
            var state = State(
                machine: AutoPairing(rules: rules),
                adverts: AdvertTable(named: named),
                openSources: sources,
                unreadySources: sources.count
            )
            for await next in inputs {
                if let sight = Sight(next) { sighted.yield(sight) }
                var waiting = try await take(next, in: &state)
                while !waiting.isEmpty {
                    switch waiting.removeFirst() {
                    case .ask(let payload, let destination):
                        let target = state.adverts.target(destination, for: payload)
                        state.payload = payload
                        group.addTask { input.yield(await ask(payload, of: target)) }
                    case .send:
                        guard let payload = state.payload, let target = state.target, let route = state.route else {
                            let now = environment.now()
                            waiting += state.machine.take(.failed("internal error: unexpected pairing step"), now: now)
                            continue
                        }
                        let seenAt = state.machine.seenAt
                        group.addTask { input.yield(await pair(payload, readAt: seenAt, with: target, by: route)) }
                    case .report(let report): self.report(report, state.places)
                    case .finish(let id): return id
                    }
                }
            }
            throw CancellationError()
        }
    }

    // MARK: Prompts that wait

    /// A sign that a paired host may be there.
    private enum Sight: Sendable {
        case advert(DiscoveredHost)
        case paired(PairedHost)

        init?(_ input: Input) {
            switch input {
            case .paired(let outcome): self = .paired(outcome.host)
            case .discovery(.added(let found)), .discovery(.changed(let found)): self = .advert(found)
            default: return nil
            }
        }
    }

    /// The paired host in sight, if something waits for it.
    private func waitingHost(_ sight: Sight) async -> PairedHost? {
        do {
            return try await BlockingCall.run { try hostOfPrompts(sight) }
        } catch {
            let failure = AppError(describing: error)
            // Hosts come into sight again and again.
            if !Task.isCancelled { interaction.warn(failure, once: true) }
            return nil
        }
    }

    private func hostOfPrompts(_ sight: Sight) throws -> PairedHost? {
        let host: PairedHost?
        switch sight {
        case .paired(let paired): host = paired
        case .advert(let found):
            let hosts = try PairedHostStore(directory: environment.paths.data).load().hosts
            host = hosts.first { !$0.claims(in: [found]).isEmpty }
        }
        guard let host, host.family.behavior.facts.queuing == .untilReceived,
            try host.outbox(environment).load().next != nil
        else { return nil }
        return host
    }

    /// Sends what waits for a host. The command goes on if that fails.
    private func sendWaiting(to host: PairedHost) async {
        do {
            let found = try await HostSelector(name: host.id).selected(environment)
            try await HostSession.with(found, environment: environment) { await $0.sendWaiting() }
        } catch {
            guard !Task.isCancelled else { return }
            interaction.warn(error)
        }
    }

    // MARK: Inputs

    private func take(_ input: Input, in state: inout State) async throws -> [AutoPairing.Action] {
        let now = environment.now()
        switch input {
        case .sourceReady:
            state.unreadySources -= 1
            guard state.unreadySources == 0 else { return [] }
            // Every code that appears from now on will be found.
            let hosts = named.map { "of \($0.name)" } ?? "and for hosts on the network"
            interaction.say("Looking for codes (\(state.places)) \(hosts). Ctrl-C ends it.")
            return state.adverts.start.flatMap { state.machine.take($0, now: now) }
        case .tick: return state.machine.take(.tick, now: now)
        case .discovery(let event):
            note(event)
            return state.adverts.take(event).flatMap { state.machine.take($0, now: now) }
        case .code(let event): return take(event, in: &state).flatMap { state.machine.take(.saw($0), now: now) }
        case .sourceEnded(let source, let error):
            guard !(error is CancellationError) else { return [] }
            state.openSources.removeAll { $0.name == source.name }
            // A lost source is tolerated while another one is left.
            guard !state.openSources.isEmpty else { throw error }
            let failure = AppError(describing: error)
            interaction.warn(
                AppError(
                    failure.kind,
                    failure.code,
                    "no more codes from \(source.name): \(failure.message)",
                    next: failure.next
                )
            )
            return []
        case .routed(let target, let route):
            (state.target, state.route) = (target, route)
            return state.machine.take(.routed(try kind(of: route, to: target)), now: now)
        case .unreachable(let why): return state.machine.take(.unreachable(why), now: now)
        case .paired(let outcome):
            await show(outcome)
            return state.machine.take(.paired(id: outcome.host.id, name: outcome.host.name), now: now)
        case .failed(let error):
            try Task.checkCancellation()
            return state.machine.take(.failed(AppError(describing: error).message), now: now)
        case .expired: return state.machine.take(.expired, now: now)
        }
    }

    private func take(_ event: CodeEvent, in state: inout State) -> [PairingPayload] {
        switch event {
        case .failure(let error):
            interaction.warn(error)
        case .codes(let contents, let place):
            if let ambiguity = PairingPicture.ambiguity(of: contents, in: place) {
                tell(ambiguity.code, message: ambiguity.message, in: &state)
                return []
            }
            let payloads = PairingPicture.payloads(of: contents)
            guard payloads.isEmpty else { return Array(payloads) }
            for content in contents.map(\.content) {
                switch content {
                case .foreign(let what):
                    tell("scan.not_a_pairing_code", message: "\(place): \(what), not a pairing code", in: &state)
                case .unusable(let why):
                    tell(
                        "scan.not_a_pairing_code",
                        message: "\(place): a pairing code that cannot be used: \(why)",
                        in: &state
                    )
                default:
                    guard let family = PairingSymbol(content)?.family.displayName else { continue }
                    tell(
                        "scan.not_a_pairing_code",
                        message: "\(place): the code of an \(family) server: pair with pairtool pair --qr",
                        in: &state
                    )
                }
            }
        }
        return []
    }

    /// Reports a message once.
    private func tell(_ code: String, message: String, in state: inout State) {
        if state.told.count > 256 { state.told = [] }
        if state.told.insert(message).inserted { interaction.warn(AppError(.failed, code, message)) }
    }

    private func note(_ event: DiscoveryEvent) {
        switch event {
        case .incomplete(let why): interaction.say("\(why)")
        case .interrupted(let error, _): interaction.say("\(error); trying again")
        case .resumed(let engine): interaction.say("continuing with the \(engine.rawValue) mDNS engine")
        default: break
        }
    }

    // MARK: Actions

    /// Finds out how to pair with a host. The request contains no secret.
    private func ask(_ payload: PairingPayload, of target: PairingTarget?) async -> Input {
        guard var target else { return .unreachable("the host has no address on your network") }
        // Nobody was asked: what a picture names outside this network is not contacted.
        target.routes = []
        do throws(PairingError) {
            let router = PairingRouter(target: target, payload: payload, tunnels: device.tunnels)
            return .routed(target, try await router.route())
        } catch {
            return .unreachable("\(target.name): \(MessageStyle.sentence(error.message))")
        }
    }

    private func kind(of route: PairingRoute, to target: PairingTarget) throws -> AutoPairing.Route {
        guard case .legacy = route else { return .verified }
        let known = try PairedHostStore(directory: environment.paths.data).load()
        if let verified = target.verifiedRecord(in: known) { return .downgrade(of: verified.name) }
        return .legacy(accepted: LegacyConsent.isAccepted(target, in: known))
    }

    private func pair(
        _ payload: PairingPayload,
        readAt: Date?,
        with target: PairingTarget,
        by route: PairingRoute
    ) async -> Input {
        do {
            let job = PairingJob(target: target, device: device, permissions: permissions)
            return .paired(
                try await interaction.working(on: "Pairing", until: payload.expiresAt) {
                    try await job.run(payload, by: route, readAt: readAt)
                }
            )
        } catch let error as PairingError where error.code == .expired {
            return .expired
        } catch {
            return .failed(error)
        }
    }

    private func show(_ outcome: PairingOutcome) async {
        paired(outcome)
        let trust = outcome.host.trust == .verified ? "Both sides proved who they are." : "The host proved nothing."
        // Notifications are optional.
        _ = try? await NotificationService.with(environment: environment.variables) { service in
            try await service.show(
                title: "Paired with \(outcome.host.name)",
                body: "This machine is listed there as “\(outcome.deviceName)”. \(trust)"
            )
        }
    }
}
