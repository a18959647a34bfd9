import CompanionClient
import CompanionWire
import Discovery
import PairingAgent

/// What hosts of one family do in their own way. `HostFamily.ways` gives a family's conformer; no other code asks which
/// family a host is of.
protocol Family: Sendable {
    var name: HostFamily { get }
    /// The port that its hosts listen on, if none is named.
    var usualPort: Int { get }
    /// How to pair with one of its hosts.
    var pairCommand: String { get }
    /// What to do first with a paired host.
    var firstCommand: String { get }
    /// What a device shows to be paired.
    var codes: Set<PairingCodeKind> { get }
    /// Whether its hosts can prove who they are. Default: false.
    var canBeVerified: Bool { get }
    /// Whether the user is asked about a host's TLS key once, where nothing proves it. Default: false.
    var trustsKeyOnFirstUse: Bool { get }
    /// Whether a host may have a second base URL. Default: false.
    var hasFallbackURL: Bool { get }
    /// Whether hosts that prove nothing speak HTTP, rather than a protocol of their own on TCP. Default: true.
    var speaksHTTP: Bool { get }
    /// Whether its hosts advertise themselves by mDNS. Default: true.
    var isAdvertised: Bool { get }
    /// Whether its hosts are meant where none is named and several are in sight. Default: false.
    var goesFirst: Bool { get }
    /// Whether a paired host is looked for where it has moved. Default: false; it is asked where it was paired.
    var isFollowed: Bool { get }
    /// Whether its assistant needs an account that is signed in, rather than a program that is there. Default: false.
    var needsAccount: Bool { get }
    /// Whether the generation of a host decides what it can do. Default: false.
    var hasGenerations: Bool { get }

    /// The clients that ``open(_:output:configuration:_:)`` makes of a paired host: what they conform to is what the
    /// host can do.
    func clients(of host: PairedHost) -> [Any.Type]
    /// What else a host can do, and what to know about what it can.
    func capabilities(of host: PairedHost, health: HostHealth?) -> FamilyCapabilities

    /// Pairs with a host, keeps its record and shows that.
    func pair(_ pairing: FamilyPairing) async throws
    /// Where an advertised host answers in plain HTTP, and where in TLS. Default: all in plain HTTP.
    ///
    /// - Parameter endpoints: Those of its endpoints that count.
    func transports(
        of host: DiscoveredHost,
        _ endpoints: [DiscoveredEndpoint]
    ) -> (plain: [CompanionEndpoint], secure: [CompanionEndpoint])
    /// Finds the host of the family that answers at an address, for `discover`.
    ///
    /// - Throws: ``CommandError`` or ``CompanionClientError`` where none does.
    func look(at place: HostPlace, paired: PairedHosts) async throws -> DiscoveredRow
    /// Asks whoever is at an address how it is, as far as that disturbs nobody. What is asked holds no secret.
    ///
    /// - Parameter speaksTLS: Whose key it is makes no difference to a question without secrets.
    /// - Throws: ``CompanionClientError``.
    func health(
        at endpoint: CompanionEndpoint,
        speaksTLS: Bool,
        timeouts: CompanionClientConfiguration.Timeouts
    ) async throws -> HostHealth
    /// Asks a paired host how it is, and how this device stands with it.
    ///
    /// - Throws: ``CompanionClientError``; ``CommandError`` where what is kept of it cannot be used.
    func health(
        of host: PairedHost,
        output: Output,
        timeouts: CompanionClientConfiguration.Timeouts
    ) async throws -> HostHealth
    /// Asks a paired host how it is at once, and then whenever that may have changed, until the task is cancelled or the
    /// host is gone from its address. Default: every `interval`.
    ///
    /// - Parameter take: Gets the answer, or why there is none for now.
    /// - Throws: ``CompanionClientError`` for what another try cannot mend; what `take` throws.
    func watchHealth(
        of host: PairedHost,
        every interval: Duration,
        output: Output,
        _ take: (Result<HostHealth, CompanionClientError>) async throws -> Void
    ) async throws
    /// Runs a body with what a paired host offers.
    func open<R>(
        _ host: PairedHost,
        output: Output,
        configuration: CompanionClientConfiguration,
        _ body: (HostClient) async throws -> R
    ) async throws -> R
    /// Removes all that is kept of a host besides its record.
    func forget(_ host: PairedHost, context: CommandContext) throws
}

/// What a device may show to be paired with a host.
enum PairingCodeKind: Sendable {
    case digits
    /// A QR code with six digits and a token.
    case picture
    /// A long token, typed or in a QR code.
    case token
}

extension Family {
    var canBeVerified: Bool { false }
    var trustsKeyOnFirstUse: Bool { false }
    var hasFallbackURL: Bool { false }
    var speaksHTTP: Bool { true }
    var isAdvertised: Bool { true }
    var goesFirst: Bool { false }
    var isFollowed: Bool { false }
    var needsAccount: Bool { false }
    var hasGenerations: Bool { false }

    func transports(
        of host: DiscoveredHost,
        _ endpoints: [DiscoveredEndpoint]
    ) -> (plain: [CompanionEndpoint], secure: [CompanionEndpoint]) {
        (endpoints.map(\.endpoint).unique, [])
    }

    func look(at place: HostPlace, paired: PairedHosts) async throws -> DiscoveredRow {
        let endpoint = place.endpoint(usualPort)
        let health = try await health(at: endpoint, speaksTLS: false, timeouts: .lookup)
        return DiscoveredRow(name, at: endpoint, health, paired: paired)
    }

    func watchHealth(
        of host: PairedHost,
        every interval: Duration,
        output: Output,
        _ take: (Result<HostHealth, CompanionClientError>) async throws -> Void
    ) async throws {
        try await poll(every: interval, take) { try await health(of: host, output: output, timeouts: .init()) }
    }

    /// Asks again and again, until the task is cancelled.
    func poll(
        every interval: Duration,
        _ take: (Result<HostHealth, CompanionClientError>) async throws -> Void,
        _ ask: () async throws -> HostHealth
    ) async throws {
        while true {
            let answer: Result<HostHealth, CompanionClientError>
            do {
                answer = .success(try await ask())
            } catch let error as CompanionClientError {
                answer = .failure(error)
            }
            try await take(answer)
            try await ContinuousClock().sleep(for: interval)
        }
    }
}

extension CompanionClientConfiguration.Timeouts {
    /// A host on the same network answers within milliseconds; a host that is gone should not delay a command.
    static let lookup = Self(connect: .seconds(2), request: .seconds(3))
}
