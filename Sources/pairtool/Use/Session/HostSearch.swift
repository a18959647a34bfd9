import CompanionClient
import CompanionWire

/// The order in which a paired host is looked for: where it last was, or where the user says that it is; then, at once,
/// where advertisements with its id lead to and where the QR code that it was paired by said that it is.
///
/// A value that takes events and gives actions. Adverts are claims: an address counts once what answers there has
/// proven to be the host, and the first to do so ends the search.
struct HostSearch: Sendable {
    /// Why an address is tried.
    enum Origin: String, Sendable {
        case named = "as named"
        case lastGood = "where it last was"
        case advert = "as advertised"
        case code = "as its QR code said"
    }

    enum Event: Sendable {
        /// What answers there is the host.
        case proved(CompanionEndpoint)
        case failed(CompanionEndpoint, CompanionClientError)
        /// Somebody advertises the host's id at these addresses, the preferred ones first.
        case advertised([CompanionEndpoint])
        /// All advertisements are in, or there can be none. The text, for people, says what came of it.
        case browseEnded(String)
    }

    enum Action: Sendable, Hashable {
        case attempt(CompanionEndpoint)
        case browse
        case use(CompanionEndpoint, Origin)
        /// It is nowhere: ``tried`` and ``browseOutcome`` say where it was looked for.
        case giveUp
    }

    struct Failure: Sendable {
        var endpoint: CompanionEndpoint
        var origin: Origin
        var error: CompanionClientError
    }

    /// Attempts at a time.
    static let maximumAttempts = 8
    /// The most addresses that are tried, so that a flood of advertisements does not delay a command for ever.
    static let maximumCandidates = 64

    /// The addresses that led nowhere, in the order in which that was known.
    private(set) var tried: [Failure] = []
    private(set) var browseOutcome: String?

    private let first: [CompanionEndpoint]
    private let code: CompanionEndpoint?
    private let looksAround: Bool
    private var origins: [CompanionEndpoint: Origin] = [:]
    private var waiting: [CompanionEndpoint] = []
    /// Link-local addresses that were advertised. They serve as well as others, but say little to people and nothing at
    /// all behind the next router: only what else was advertised has failed when they are tried.
    private var lastResorts: [CompanionEndpoint] = []
    private var underWay: Set<CompanionEndpoint> = []
    private var isLookingAround = false
    private var isOver = false

    /// - Parameters:
    ///   - lastGood: Where the host was last reached.
    ///   - code: Where its QR code said that it is.
    init(lastGood: CompanionEndpoint, code: CompanionEndpoint?) {
        first = [lastGood]
        self.code = code
        looksAround = true
        origins[lastGood] = .lastGood
    }

    /// A search at nothing but the addresses that the user named.
    init(named: [CompanionEndpoint]) {
        first = named
        code = nil
        looksAround = false
        for endpoint in named { origins[endpoint] = .named }
    }

    mutating func begin() -> [Action] {
        waiting = first
        return next()
    }

    mutating func take(_ event: Event) -> [Action] {
        guard !isOver else { return [] }
        switch event {
        case .proved(let endpoint):
            guard underWay.remove(endpoint) != nil else { return [] }
            isOver = true
            return [.use(endpoint, origins[endpoint] ?? .advert)]
        case .failed(let endpoint, let error):
            guard underWay.remove(endpoint) != nil else { return [] }
            tried.append(Failure(endpoint: endpoint, origin: origins[endpoint] ?? .advert, error: error))
        case .advertised(let endpoints):
            for endpoint in endpoints { add(endpoint, .advert) }
        case .browseEnded(let outcome):
            browseOutcome = outcome
            isLookingAround = false
        }
        return next()
    }

    private mutating func add(_ endpoint: CompanionEndpoint, _ origin: Origin) {
        guard origins[endpoint] == nil, origins.count < Self.maximumCandidates else { return }
        origins[endpoint] = origin
        if origin == .advert, endpoint.address.scope == .linkLocal {
            lastResorts.append(endpoint)
        } else {
            waiting.append(endpoint)
        }
    }

    /// Whether nothing is being tried or about to be.
    private var isAtRest: Bool { waiting.isEmpty && underWay.isEmpty }

    private mutating func next() -> [Action] {
        var actions: [Action] = []
        if isAtRest, looksAround, browseOutcome == nil, !isLookingAround {
            isLookingAround = true
            actions.append(.browse)
            if let code { add(code, .code) }
        }
        if isAtRest, !isLookingAround {
            waiting = lastResorts
            lastResorts = []
        }
        while underWay.count < Self.maximumAttempts, !waiting.isEmpty {
            let endpoint = waiting.removeFirst()
            underWay.insert(endpoint)
            actions.append(.attempt(endpoint))
        }
        if isAtRest, !isLookingAround {
            isOver = true
            actions.append(.giveUp)
        }
        return actions
    }
}
