package import CompanionWire
package import FoundationEssentials

/// Pairs as soon as a host and its code are both there, without any I/O: takes what happened and says what to do next.
///
///     a code and its host ─► ask (which protocol?) ─► send ─► paired or failed
///                 ▲                   │ not there, not allowed
///                 └─── wait ◄─────────┘
///
/// Only ``Action/send`` lets a code leave this machine, at most once a code. A code that names its host by a key
/// (protocol v2) goes nowhere else, whatever is in sight. One that names none (v1) goes to the only host in sight, or
/// to the only one of those that the rules name, and to none where there were ever two while it waited: anyone can say
/// goodbye in the other's name.
package struct AutoPairing: Sendable {
    /// What may be paired with.
    package struct Rules: Sendable {
        /// Names, or ids or their beginnings of four characters or more. Default: none, which allows every host.
        package var only: [String] = []
        /// Whether hosts that prove nothing are refused. Default: false.
        package var requiresProof = false
        /// Whether hosts that prove nothing are accepted. Default: false.
        package var allowsLegacy = false
        /// Whether less than all permissions are asked for, which protocol v1 does not know. Default: false.
        package var limitsPermissions = false
        /// Whether to go on after a pairing. Default: false.
        package var keeps = false

        package init() {}
    }

    /// A host in sight, as it describes itself: all of it claims.
    package struct Host: Sendable, Hashable, Identifiable {
        /// What tells it apart from others in sight.
        package var id: String
        package var name: String
        /// The id that it says it has.
        package var advertisedID: String?
        /// Whether several machines or ports claim to be it: a code that names no key cannot be sent there.
        package var isAmbiguous: Bool
        /// Whether the user named it by its address: it is the one that any code is of.
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

    /// Where a code is to go.
    package enum Destination: Sendable, Hashable {
        /// The host in sight with this ``Host/id``.
        case host(String)
        /// The address in the code itself.
        case named
    }

    /// How a host can be paired with.
    package enum Route: Sendable, Hashable {
        /// With proof.
        case verified
        /// Without any; `accepted` where the user has taken the same host without proof before.
        case legacy(accepted: Bool)
        /// Without any, at the address or under the id of a host that was paired with proof before.
        case downgrade(of: String)
    }

    package enum Event: Sendable {
        /// All hosts that are there by now are known.
        case settled
        /// Nothing is known any more of who is there.
        case interrupted
        /// A host appeared, or something of it changed.
        case appeared(Host)
        case vanished(id: String)
        case saw(PairingPayload)
        /// The answer to ``Action/ask(_:_:)``.
        case routed(Route)
        /// The answer to ``Action/ask(_:_:)`` where there is no way to the host. Nothing was sent.
        case unreachable(String)
        /// The answer to ``Action/send``: the paired host's id and name.
        case paired(id: String, name: String)
        /// The answer to ``Action/send``.
        case failed(String)
        /// Time has passed.
        case tick
    }

    package enum Action: Sendable, Hashable {
        /// Find out how the host is to be paired with. Nothing secret goes out.
        case ask(PairingPayload, Destination)
        /// Pair, over what was found out last.
        case send
        case report(Report)
        /// The end, with the id of the host that was paired with.
        case finish(String)
    }

    /// What people are told.
    package enum Report: Sendable, Hashable {
        /// What it is that is waited for, as it has changed.
        case waiting(hosts: [String], hasCode: Bool)
        /// The code names a host that is not in sight.
        case waitingFor(hostID: String)
        case expired
        /// The code names no host, and there are several.
        case ambiguous([Host])
        /// The rules name other hosts.
        case excluded(String)
        case legacyRefused(String)
        case permissionsUnknown(String)
        case downgrade(String, of: String)
        case alreadyPaired(String)
        case unreachable(String)
        case failed(String)
    }

    /// A code that waits.
    struct Waiting: Sendable {
        var payload: PairingPayload
        /// All hosts that it could have been meant for while it waited.
        var rivals: Set<String> = []
        /// What was said about it already.
        var said: Set<Report> = []
        var retryAt: Date?
        /// Hosts that it is not sent to.
        var refused: Set<Destination> = []
    }

    private enum Phase {
        case waiting
        case asking(Destination)
        case sending(Destination)
        case finished
    }

    /// Between two tries to reach a host, in seconds.
    package static let retryPause = 5.0
    /// How many used codes are remembered.
    private static let memory = 512

    let rules: Rules
    private var phase = Phase.waiting
    private(set) var hosts: [String: Host] = [:]
    private(set) var isSettled = false
    /// The latest code of each host; the first is being dealt with while the phase says so.
    private var codes: [Waiting] = []
    /// Codes that were used, have expired or wait.
    private var seen: [PairingPayload] = []
    private(set) var paired: [String: String] = [:]
    private var lastWaiting: Report?

    package init(rules: Rules) {
        self.rules = rules
    }

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
        if payload.hasExpired(at: now) { return [.report(.expired)] }
        // A host has one code at a time, so a newer one takes the place of the last; not of the one that is in use.
        let first = isBusy ? 1 : 0
        if let index = codes.indices.dropFirst(first).first(where: { codes[$0].payload.isOfSameHost(as: payload) }) {
            codes.remove(at: index)
        }
        codes.append(Waiting(payload: payload))
        return []
    }

    private mutating func routed(_ route: Route, now: Date) -> [Action] {
        guard case .asking(let destination) = phase, !codes.isEmpty else { return [] }
        phase = .waiting
        // Meanwhile another host may have appeared, or time may be over.
        guard case .go(destination) = decision(about: codes[0], now: now), !codes[0].payload.hasExpired(at: now) else {
            return []
        }
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

    // MARK: What comes next

    private var isBusy: Bool { if case .waiting = phase { false } else { true } }

    private mutating func goOn(now: Date) -> [Action] {
        guard case .waiting = phase else { return [] }
        var actions: [Action] = []
        if codes.contains(where: { $0.payload.hasExpired(at: now) }) {
            actions += codes.filter { $0.payload.hasExpired(at: now) }.map { _ in .report(.expired) }
            codes.removeAll { $0.payload.hasExpired(at: now) }
            // Said again: another code is waited for now.
            lastWaiting = nil
        }
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
            case .hold(let report):
                if let report { actions += say(report, about: index) }
                index += 1
            }
        }
        return actions + sayWhatIsMissing()
    }

    /// Says something about a code once.
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

extension PairingPayload {
    /// Whether its time is over, by a clock that may not be the host's.
    fileprivate func hasExpired(at now: Date) -> Bool {
        expiresAt.map { $0 <= now } ?? false
    }
}
