package import CompanionWire
package import FoundationEssentials

/// Pairs as soon as both a host and its code are known. A state machine without any I/O that takes events and returns
/// actions.
///
///     a code and its host ─► ask (which protocol?) ─► send ─► paired or failed
///                 ▲                   │ not there, not allowed
///                 └─── wait ◄─────────┘
///
/// Only ``Action/send`` lets a code leave this machine, at most once per code. A code that names its host by a key
/// (protocol v2) is sent to no other host. A code that names no host (v1) is sent to the only host in sight, or the
/// only one that the rules allow. It is not sent if two were in sight at any time while it waited, because anyone can
/// withdraw the other host's advertisement.
package struct AutoPairing: Sendable {
    /// Which hosts may be paired with, and how.
    package struct Rules: Sendable {
        /// The allowed hosts: names, ids, or prefixes of ids with four characters or more. Default: empty, all hosts
        /// are allowed.
        package var only: [String] = []
        /// Whether hosts that prove nothing are refused. Default: false.
        package var requiresProof = false
        /// Whether hosts that prove nothing are accepted. Default: false.
        package var allowsLegacy = false
        /// Whether fewer than all permissions are requested. Protocol v1 has no permissions. Default: false.
        package var limitsPermissions = false
        /// Whether to continue after a pairing. Default: false.
        package var keeps = false

        package init() {}
    }

    /// A host in sight, as it describes itself. None of it is proven.
    package struct Host: Sendable, Hashable, Identifiable {
        /// Distinguishes it from other hosts in sight.
        package var id: String
        /// The name that it advertises.
        package var name: String
        /// The id that it advertises; nil if it advertises none.
        package var advertisedID: String?
        /// Whether several machines or ports claim to be this host. A code that names no key cannot be sent there.
        package var isAmbiguous: Bool
        /// Whether the user named this host by its address. Every code is then for this host.
        package var isNamed: Bool

        package init(
            id: String,
            name: String,
            advertisedID: String?,
            isAmbiguous: Bool = false,
            isNamed: Bool = false
        ) {
            self.id = id
            self.name = name
            self.advertisedID = advertisedID
            self.isAmbiguous = isAmbiguous
            self.isNamed = isNamed
        }
    }

    /// The receiver of a code.
    package enum Destination: Sendable, Hashable {
        /// The host in sight with this ``Host/id``.
        case host(String)
        /// The address in the code itself.
        case named
    }

    /// How to pair with a host.
    package enum Route: Sendable, Hashable {
        /// The host can prove its identity.
        case verified
        /// The host proves nothing; `accepted` if the user accepted this host without proof before.
        case legacy(accepted: Bool)
        /// The host proves nothing, but has the address or the id of a host that was paired with proof before.
        case downgrade(of: String)
    }

    /// A change on the network, a code that was read, the answer to an ``Action``, or the passing of time.
    package enum Event: Sendable {
        /// All hosts that are advertised now are known.
        case settled
        /// Discovery was interrupted: it is not known which hosts are there.
        case interrupted
        /// A host appeared or changed.
        case appeared(Host)
        /// A host is no longer advertised.
        case vanished(id: String)
        /// A code was read. A code that was read before changes nothing; the last 512 are remembered.
        case saw(PairingPayload)
        /// The answer to ``Action/ask(_:_:)``.
        case routed(Route)
        /// The answer to ``Action/ask(_:_:)`` if the host cannot be reached. Nothing was sent.
        case unreachable(String)
        /// The answer to ``Action/send``: the paired host's id and name.
        case paired(id: String, name: String)
        /// The answer to ``Action/send``.
        case failed(String)
        /// The answer to ``Action/send`` if the code is over by the host's clock.
        case expired
        /// Time has passed: retries may be due, and codes may have expired.
        case tick
    }

    /// A task for the caller.
    package enum Action: Sendable, Hashable {
        /// Find out how to pair with the host, and answer with ``Event/routed(_:)`` or ``Event/unreachable(_:)``. The
        /// request contains no secret.
        case ask(PairingPayload, Destination)
        /// Pair, over the route of the last ``Event/routed(_:)``.
        case send
        case report(Report)
        /// The end; the id is that of the paired host.
        case finish(String)
    }

    /// A report for the user.
    package enum Report: Sendable, Hashable {
        /// A host or a code is still missing. Sent when it changes.
        case waiting(hosts: [String], hasCode: Bool)
        /// The host that the code names is not in sight.
        case waitingFor(hostID: String)
        case expired
        /// The code names no host, and several are in sight.
        case ambiguous([Host])
        /// The rules exclude the host that the code names.
        case excluded(String)
        /// The host with this name proves nothing, and the rules do not accept that.
        case legacyRefused(String)
        /// The rules limit permissions, but the host with this name speaks protocol v1, which has none.
        case permissionsUnknown(String)
        /// The host with the first name proves nothing, but may be the second one, which was paired with proof before.
        case downgrade(String, of: String)
        /// The code belongs to a host with this name that was paired during this run.
        case alreadyPaired(String)
        /// Pairing is not possible yet, for this reason. Nothing was sent.
        case unreachable(String)
        /// Pairing failed, or the code cannot be used, for this reason.
        case failed(String)
    }

    /// A waiting code.
    struct Waiting: Sendable {
        var payload: PairingPayload
        /// When it was first seen.
        var seenAt: Date
        /// All hosts that the code could have been for while it waited.
        var rivals: Set<String> = []
        /// The reports about this code so far.
        var said: Set<Report> = []
        var retryAt: Date?
        /// Hosts that this code is not sent to.
        var refused: Set<Destination> = []
    }

    private enum Phase {
        case waiting
        case asking(Destination)
        case sending(Destination)
        case finished
    }

    /// Seconds between two tries to reach a host.
    package static let retryPause = 5.0
    /// Seconds for which a code that is over by this machine's clock waits for its host, whose clock decides.
    package static let patience = 60.0
    /// How many used codes are remembered.
    private static let memory = 512

    let rules: Rules
    private var phase = Phase.waiting
    private(set) var hosts: [String: Host] = [:]
    private(set) var isSettled = false
    /// The latest code of each host. While the phase is not `waiting`, the first one is in use.
    private var codes: [Waiting] = []
    /// Codes that are waiting, were used or have expired.
    private var seen: [PairingPayload] = []
    private(set) var paired: [String: String] = [:]
    private var lastWaiting: Report?

    package init(rules: Rules) {
        self.rules = rules
    }

    /// Takes an event and returns the actions for the caller, in order; none after the end.
    ///
    /// - Parameter now: This machine's time.
    package mutating func take(_ event: Event, now: Date) -> [Action] {
        if case .finished = phase { return [] }
        var actions: [Action] = []
        switch event {
        case .settled: isSettled = true
        case .interrupted: isSettled = false
        case .appeared(let host):
            hosts[host.id] = host
            for index in codes.indices { codes[index].retryAt = nil }
        case .vanished(let id): hosts[id] = nil
        case .saw(let payload): actions += saw(payload, now: now)
        case .routed(let route): actions += routed(route, now: now)
        case .unreachable(let why): actions += unreachable(why, now: now)
        case .paired(let id, let name): actions += ended(with: (id, name))
        case .failed(let why): actions += ended(with: nil) + [.report(.failed(why))]
        case .expired: actions += expired()
        case .tick: break
        }
        for index in codes.indices where codes[index].payload.spki == nil {
            codes[index].rivals.formUnion(candidates.map(\.id))
        }
        return actions + goOn(now: now)
    }

    /// The hosts in sight that the rules allow.
    var candidates: [Host] {
        hosts.values.filter { rules.allows(name: $0.name, id: $0.advertisedID ?? $0.id) }.sorted {
            ($0.name, $0.id) < ($1.name, $1.id)
        }
    }

    // MARK: Events

    private mutating func saw(_ payload: PairingPayload, now: Date) -> [Action] {
        guard !seen.contains(payload) else { return [] }
        seen.append(payload)
        if seen.count > Self.memory { seen.removeFirst() }
        // A host has one code at a time, so a newer code replaces the older one, unless that one is in use.
        let first = isBusy ? 1 : 0
        if let index = codes.indices.dropFirst(first).first(where: { codes[$0].payload.isOfSameHost(as: payload) }) {
            codes.remove(at: index)
        }
        codes.append(Waiting(payload: payload, seenAt: now))
        return []
    }

    private mutating func routed(_ route: Route, now: Date) -> [Action] {
        guard case .asking(let destination) = phase, !codes.isEmpty else { return [] }
        phase = .waiting
        // Since the question, another host may have appeared.
        guard case .go(destination) = decision(about: codes[0], now: now) else { return [] }
        let name = name(of: destination)
        let refusal: Report? =
            switch route {
            case .verified: nil
            case .downgrade(let other): .downgrade(name, of: other)
            case .legacy where rules.requiresProof: .legacyRefused(name)
            case .legacy where rules.limitsPermissions: .permissionsUnknown(name)
            case .legacy(let accepted): accepted || rules.allowsLegacy ? nil : .legacyRefused(name)
            }
        if let refusal {
            codes[0].refused.insert(destination)
            return say(refusal, about: 0)
        }
        phase = .sending(destination)
        return [.send]
    }

    private mutating func unreachable(_ why: String, now: Date) -> [Action] {
        guard case .asking = phase, !codes.isEmpty else { return [] }
        phase = .waiting
        codes[0].retryAt = now.addingTimeInterval(Self.retryPause)
        return say(.unreachable(why), about: 0)
    }

    private mutating func ended(with host: (id: String, name: String)?) -> [Action] {
        guard case .sending(let destination) = phase, !codes.isEmpty else { return [] }
        codes.removeFirst()
        phase = .waiting
        guard let host else { return [] }
        paired[host.id] = host.name
        if case .host(let id) = destination { paired[id] = host.name }
        guard !rules.keeps else { return [] }
        phase = .finished
        return [.finish(host.id)]
    }

    private mutating func expired() -> [Action] {
        _ = ended(with: nil)
        // Report it again, because another code is needed now.
        lastWaiting = nil
        return [.report(.expired)]
    }

    /// When the code in use was first seen.
    package var seenAt: Date? { codes.first?.seenAt }

    // MARK: Next action

    private var isBusy: Bool { if case .waiting = phase { false } else { true } }

    private mutating func goOn(now: Date) -> [Action] {
        guard case .waiting = phase else { return [] }
        var actions: [Action] = []
        var index = 0
        while index < codes.count {
            switch decision(about: codes[index], now: now) {
            case .go(let destination):
                codes.swapAt(0, index)
                phase = .asking(destination)
                return actions + [.ask(codes[0].payload, destination)]
            case .drop(let report):
                codes.remove(at: index)
                actions.append(.report(report))
            case .hold where codes[index].isOver(at: now):
                codes.remove(at: index)
                actions.append(.report(.expired))
                lastWaiting = nil
            case .hold(let report):
                if let report { actions += say(report, about: index) }
                index += 1
            }
        }
        return actions + sayWhatIsMissing()
    }

    /// Reports something about a code once.
    private mutating func say(_ report: Report, about index: Int) -> [Action] {
        codes[index].said.insert(report).inserted ? [.report(report)] : []
    }

    private mutating func sayWhatIsMissing() -> [Action] {
        let report = Report.waiting(hosts: candidates.map(\.name), hasCode: !codes.isEmpty)
        guard isSettled, report != lastWaiting else { return [] }
        lastWaiting = report
        return [.report(report)]
    }

    private func name(of destination: Destination) -> String {
        switch destination {
        case .host(let id): hosts[id]?.name ?? id
        case .named: codes.first.flatMap { $0.payload.host ?? $0.payload.addr } ?? ""
        }
    }
}

extension AutoPairing.Waiting {
    /// Whether the code is over by this machine's clock, and has waited long enough for a host that could say more.
    fileprivate func isOver(at now: Date) -> Bool {
        payload.hasEnded(at: now) && now.timeIntervalSince(seenAt) >= AutoPairing.patience
    }
}
