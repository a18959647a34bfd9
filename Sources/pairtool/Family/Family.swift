import CompanionClient
import CompanionWire
import Discovery
import PairingAgent

/// The behaviour that is specific to one host family. `HostFamily.behavior` returns the conforming type; no other code
/// checks which family a host belongs to.
protocol Family: Sendable {
    var name: HostFamily { get }
    /// The default port of its hosts.
    var usualPort: Int { get }
    /// The command that pairs with one of its hosts.
    var pairCommand: String { get }
    /// The first command to try with a paired host.
    var firstCommand: String { get }
    /// The kinds of code that a device can present to pair.
    var codes: Set<PairingCodeKind> { get }
    /// Whether its hosts can prove their identity. Default: false.
    var canBeVerified: Bool { get }
    /// Whether the user is asked once about a host's TLS key if nothing proves it. Default: false.
    var trustsKeyOnFirstUse: Bool { get }
    /// Whether a host may have a second base URL. Default: false.
    var hasFallbackURL: Bool { get }
    /// Whether legacy hosts speak HTTP rather than a protocol of their own over TCP. Default: true.
    var speaksHTTP: Bool { get }
    /// Whether its hosts advertise themselves by mDNS. Default: true.
    var isAdvertised: Bool { get }
    /// Whether its hosts are preferred if the user names no host and several are in sight. Default: false.
    var goesFirst: Bool { get }
    /// Whether a paired host that moved is looked for on the network. Default: false; it is contacted only where it was
    /// paired.
    var isFollowed: Bool { get }
    /// Whether its assistant needs a signed-in account rather than an installed program. Default: false.
    var needsAccount: Bool { get }
    /// Whether a host's generation decides what it can do. Default: false.
    var hasGenerations: Bool { get }

    /// The types of the clients that ``open(_:output:configuration:_:)`` creates for a paired host. The protocols that
    /// they conform to tell what the host can do.
    func clients(of host: PairedHost) -> [Any.Type]
    /// A host's capabilities beyond its clients' types, and notes about capabilities.
    func capabilities(of host: PairedHost, health: HostHealth?) -> FamilyCapabilities

    /// Pairs with a host, stores its record and shows the result.
    func pair(_ pairing: FamilyPairing) async throws
    /// The endpoints of an advertised host, divided into plain HTTP and TLS. Default: all plain HTTP.
    ///
    /// - Parameter endpoints: Those of its endpoints to consider.
    func transports(
        of host: DiscoveredHost,
        _ endpoints: [DiscoveredEndpoint]
    ) -> (plain: [CompanionEndpoint], secure: [CompanionEndpoint])
    /// Finds the family's host at an address, for `discover`.
    ///
    /// - Throws: ``CommandError`` or ``CompanionClientError`` if none answers.
    func look(at place: HostPlace, paired: PairedHosts) async throws -> DiscoveredRow
    /// Asks the host at an address for its state, without disturbing its user. The request contains no secret.
    ///
    /// - Parameter speaksTLS: Whether to use TLS. The key is not checked, because the request has no secret.
    /// - Throws: ``CompanionClientError``.
    func health(
        at endpoint: CompanionEndpoint,
        speaksTLS: Bool,
        timeouts: CompanionClientConfiguration.Timeouts
    ) async throws -> HostHealth
    /// Asks a paired host for its state and for this device's access.
    ///
    /// - Throws: ``CompanionClientError``; ``CommandError`` if its stored credentials cannot be used.
    func health(
        of host: PairedHost,
        output: Output,
        timeouts: CompanionClientConfiguration.Timeouts
    ) async throws -> HostHealth
    /// Asks a paired host for its health at once, and then whenever it may have changed, until the task is cancelled or
    /// the host no longer answers at its address. Default: every `interval`.
    ///
    /// - Parameter take: Takes the answer, or the reason why there is none now.
    /// - Throws: ``CompanionClientError`` for errors that another try cannot fix; what `take` throws.
    func watchHealth(
        of host: PairedHost,
        every interval: Duration,
        output: Output,
        _ take: (Result<HostHealth, CompanionClientError>) async throws -> Void
    ) async throws
    /// Runs a body with the clients for a paired host.
    func open<R>(
        _ host: PairedHost,
        output: Output,
        configuration: CompanionClientConfiguration,
        _ body: (HostClient) async throws -> R
    ) async throws -> R
    /// Removes everything that is stored for a host besides its record.
    func forget(_ host: PairedHost, context: CommandContext) throws
}

/// The kinds of code that a device can present to pair with a host.
enum PairingCodeKind: Sendable {
    case digits
    /// A QR code with six digits and a token.
    case picture
    /// A long token, typed or from a QR code.
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

    /// Asks every `interval`, until the task is cancelled.
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
    /// A host on the same network answers within milliseconds; a host that has left should not delay a command.
    static let lookup = Self(connect: .seconds(2), request: .seconds(3))
}
