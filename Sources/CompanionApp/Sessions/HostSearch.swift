import CompanionClient
import CompanionWire

/// The order in which the places of a paired host are tried: first its last address, or the ones that the user named;
/// then, in parallel, the advertised addresses with its id and the address from its QR code. Its other routes begin one
/// after the other, each a moment after the one before or as soon as nothing else is being tried (RFC 8305).
///
/// A state machine that takes events and returns actions. Advertisements are unproven claims: the search ends at the
/// first place that proves to be the host's.
struct HostSearch: Sendable {
    /// Why an address is tried.
    enum Origin: String, Sendable {
        case named = "as named"
        case lastGood = "where it last was"
        case advert = "as advertised"
        case code = "as its QR code said"
        case route = "by a route"
    }

    package enum Event: Sendable {
        /// The host was proven to be there.
        case proved(HostPlace)
        case failed(HostPlace, CompanionClientError)
        /// Advertisements with the host's id have these addresses, preferred ones first.
        case advertised([CompanionEndpoint])
        /// All advertisements have arrived, or there cannot be any. The text tells the user the outcome.
        case browseEnded(String)
        /// The time that ``Action/pause`` asked for is over.
        case pauseEnded
    }

    enum Action: Sendable, Hashable {
        case attempt(HostPlace)
        case browse
        /// Wait for the time that the next route is later than the one before: `HostPlace.routeDelay`.
        case pause
        case use(HostPlace, Origin)
        /// The host was not found: ``tried`` and ``browseOutcome`` say where it was searched for.
        case giveUp
    }

    struct Failure: Sendable {
        var place: HostPlace
        var origin: Origin
        var error: CompanionClientError
    }

    /// Attempts that run at the same time.
    static let maximumAttempts = 8
    /// Limits the addresses that are tried, so that a flood of advertisements cannot delay a command without end.
    static let maximumCandidates = 64

    /// The addresses that failed, in the order of their failures.
    private(set) var tried: [Failure] = []
    private(set) var browseOutcome: String?

    private let first: [HostPlace]
    private let code: CompanionEndpoint?
    private let looksAround: Bool
    /// Whether advertisements are looked for from the start: the host was last reached otherwise than directly.
    private let looksAroundAtOnce: Bool
    /// The routes that were not begun yet.
    private var routes: ArraySlice<HostRoute>
    private var origins: [HostPlace: Origin] = [:]
    private var waiting: [HostPlace] = []
    /// Advertised link-local addresses. They work as well as others, but tell the user little and do not work across a
    /// router, so they are tried after the other advertised addresses have failed.
    private var lastResorts: [HostPlace] = []
    private let usesLinkLocal: Bool
    private var underWay: Set<HostPlace> = []
    private var isLookingAround = false
    private var isOver = false

    /// - Parameters:
    ///   - lastGood: The endpoint at which the host was last reached directly; nil if it never was.
    ///   - code: The address in its QR code.
    ///   - routes: Its other routes, the preferred one first. Default: none.
    ///   - wasElsewhere: Whether it was last reached by one of them. Default: false.
    ///   - usesLinkLocal: Whether advertised link-local addresses are tried. Default: true.
    init(
        lastGood: CompanionEndpoint?,
        code: CompanionEndpoint?,
        routes: [HostRoute] = [],
        wasElsewhere: Bool = false,
        usesLinkLocal: Bool = true
    ) {
        first = lastGood.map { [.address($0)] } ?? []
        self.code = code
        self.routes = routes[...]
        looksAround = true
        (looksAroundAtOnce, self.usesLinkLocal) = (wasElsewhere, usesLinkLocal)
        for place in first { origins[place] = .lastGood }
    }

    /// Searches only where the user said.
    init(named: [HostPlace]) {
        first = named
        code = nil
        routes = []
        (looksAround, looksAroundAtOnce, usesLinkLocal) = (false, false, true)
        for place in named { origins[place] = .named }
    }

    mutating func begin() -> [Action] {
        waiting = first
        var actions: [Action] = []
        if looksAroundAtOnce { actions.append(lookAround()) }
        if !routes.isEmpty, !waiting.isEmpty { actions.append(.pause) }
        return actions + next()
    }

    mutating func take(_ event: Event) -> [Action] {
        guard !isOver else { return [] }
        var actions: [Action] = []
        switch event {
        case .proved(let place):
            guard underWay.remove(place) != nil else { return [] }
            isOver = true
            return [.use(place, origins[place] ?? .advert)]
        case .failed(let place, let error):
            guard underWay.remove(place) != nil else { return [] }
            tried.append(Failure(place: place, origin: origins[place] ?? .advert, error: error))
        case .advertised(let endpoints):
            for endpoint in endpoints { add(.address(endpoint), origin: .advert) }
        case .browseEnded(let outcome):
            browseOutcome = outcome
            isLookingAround = false
        case .pauseEnded:
            if looksAround, browseOutcome == nil, !isLookingAround { actions.append(lookAround()) }
            beginRoute()
            if !routes.isEmpty { actions.append(.pause) }
        }
        return actions + next()
    }

    private mutating func beginRoute() {
        if let route = routes.popFirst() { add(.route(route), origin: .route) }
    }

    private mutating func add(_ place: HostPlace, origin: Origin) {
        // However many are advertised, the routes of the record have their turn.
        guard origins[place] == nil, origin == .route || origins.count < Self.maximumCandidates else { return }
        origins[place] = origin
        if origin == .route {
            waiting.insert(place, at: 0)
        } else if origin == .advert, case .address(let endpoint) = place, endpoint.address.scope == .linkLocal {
            if usesLinkLocal { lastResorts.append(place) }
        } else {
            waiting.append(place)
        }
    }

    /// Whether no place is being tried or waiting to be tried.
    private var isAtRest: Bool { waiting.isEmpty && underWay.isEmpty }

    private mutating func lookAround() -> Action {
        isLookingAround = true
        if let code { add(.address(code), origin: .code) }
        return .browse
    }

    private mutating func next() -> [Action] {
        var actions: [Action] = []
        // Nothing is gained by waiting for the next route's time.
        if isAtRest { beginRoute() }
        if underWay.isEmpty, waiting.allSatisfy({ origins[$0] == .route }), looksAround, browseOutcome == nil,
            !isLookingAround
        {
            actions.append(lookAround())
        }
        if isAtRest, !isLookingAround {
            waiting = lastResorts
            lastResorts = []
        }
        while let place = waiting.first, underWay.count < Self.maximumAttempts || origins[place] == .route {
            waiting.removeFirst()
            underWay.insert(place)
            actions.append(.attempt(place))
        }
        if isAtRest, !isLookingAround {
            isOver = true
            actions.append(.giveUp)
        }
        return actions
    }
}
