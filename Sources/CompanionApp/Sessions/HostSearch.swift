import CompanionClient
import CompanionWire

/// The order in which the addresses of a paired host are tried: first its last address, or the ones that the user
/// named; then, in parallel, the advertised addresses with its id and the address from its QR code.
///
/// A state machine that takes events and returns actions. Advertisements are unproven claims: the search ends at the
/// first address that proves to be the host's.
struct HostSearch: Sendable {
    /// Why an address is tried.
    enum Origin: String, Sendable {
        case named = "as named"
        case lastGood = "where it last was"
        case advert = "as advertised"
        case code = "as its QR code said"
    }

    package enum Event: Sendable {
        /// The host was proven to be at this address.
        case proved(CompanionEndpoint)
        case failed(CompanionEndpoint, CompanionClientError)
        /// Advertisements with the host's id have these addresses, preferred ones first.
        case advertised([CompanionEndpoint])
        /// All advertisements have arrived, or there cannot be any. The text tells the user the outcome.
        case browseEnded(String)
    }

    enum Action: Sendable, Hashable {
        case attempt(CompanionEndpoint)
        case browse
        case use(CompanionEndpoint, Origin)
        /// The host was not found: ``tried`` and ``browseOutcome`` say where it was searched for.
        case giveUp
    }

    struct Failure: Sendable {
        var endpoint: CompanionEndpoint
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

    private let first: [CompanionEndpoint]
    private let code: CompanionEndpoint?
    private let looksAround: Bool
    private var origins: [CompanionEndpoint: Origin] = [:]
    private var waiting: [CompanionEndpoint] = []
    /// Advertised link-local addresses. They work as well as others, but tell the user little and do not work across a
    /// router, so they are tried after the other advertised addresses have failed.
    private var lastResorts: [CompanionEndpoint] = []
    private var underWay: Set<CompanionEndpoint> = []
    private var isLookingAround = false
    private var isOver = false

    /// - Parameters:
    ///   - lastGood: The endpoint at which the host was last reached.
    ///   - code: The address in its QR code.
    init(lastGood: CompanionEndpoint, code: CompanionEndpoint?) {
        first = [lastGood]
        self.code = code
        looksAround = true
        origins[lastGood] = .lastGood
    }

    /// Searches only at the addresses that the user named.
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
            for endpoint in endpoints { add(endpoint, origin: .advert) }
        case .browseEnded(let outcome):
            browseOutcome = outcome
            isLookingAround = false
        }
        return next()
    }

    private mutating func add(_ endpoint: CompanionEndpoint, origin: Origin) {
        guard origins[endpoint] == nil, origins.count < Self.maximumCandidates else { return }
        origins[endpoint] = origin
        if origin == .advert, endpoint.address.scope == .linkLocal {
            lastResorts.append(endpoint)
        } else {
            waiting.append(endpoint)
        }
    }

    /// Whether no address is being tried or waiting to be tried.
    private var isAtRest: Bool { waiting.isEmpty && underWay.isEmpty }

    private mutating func next() -> [Action] {
        var actions: [Action] = []
        if isAtRest, looksAround, browseOutcome == nil, !isLookingAround {
            isLookingAround = true
            actions.append(.browse)
            if let code { add(code, origin: .code) }
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
