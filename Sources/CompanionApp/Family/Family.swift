package import CompanionClient
package import CompanionWire
package import Discovery
package import Identity
import LocalState
package import PairingAgent

/// The behaviour that is specific to one host family. `HostFamily.behavior` returns the conforming type; no other code
/// checks which family a host belongs to.
package protocol Family: Sendable {
    var facts: FamilyFacts { get }
    /// The capabilities of a paired host.
    ///
    /// - Parameter health: The host's report of its state; nil if it does not answer, or was not asked.
    func capabilities(of host: PairedHost, health: HostHealth?) -> FamilyCapabilities
    /// Pairs with a host and stores its record.
    func pair(_ pairing: FamilyPairing) async throws -> PairingOutcome
    /// The endpoints of an advertised host, divided into plain HTTP and TLS. Default: all plain HTTP.
    ///
    /// - Parameter endpoints: Those of its endpoints to consider.
    func transports(
        of host: DiscoveredHost,
        among endpoints: [DiscoveredEndpoint]
    ) -> (plain: [CompanionEndpoint], secure: [CompanionEndpoint])
    /// The addresses where a paired host may be, according to its advertisements. Default: none.
    func places(of host: PairedHost, in claims: [DiscoveredHost]) -> [CompanionEndpoint]
    /// The check that an address has to pass before a paired host may be there. It sends no secret, and throws
    /// ``CompanionClientError``. Default: something accepts connections there.
    ///
    /// - Throws: ``AppError`` if the record of the host cannot be used.
    func prover(of host: PairedHost) throws -> @Sendable (CompanionEndpoint) async throws -> Void
    /// Finds the family's host at an address, for `discover`.
    ///
    /// - Throws: ``AppError`` or ``CompanionClientError`` if none answers.
    func look(at place: HostAddress, paired: PairedHosts) async throws -> SightedHost
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
    /// - Throws: ``CompanionClientError``; ``AppError`` if its stored credentials cannot be used.
    func health(
        of host: PairedHost,
        environment: AppEnvironment,
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
        environment: AppEnvironment,
        _ take: (Result<HostHealth, CompanionClientError>) async throws -> Void
    ) async throws
    /// Runs a body with the clients for a paired host.
    func open<R>(
        _ host: PairedHost,
        environment: AppEnvironment,
        configuration: CompanionClientConfiguration,
        _ body: (HostClient) async throws -> R
    ) async throws -> R
    /// Removes everything that is stored for a host besides its record.
    func forget(_ host: PairedHost, environment: AppEnvironment) throws
}

/// Whether prompts for the hosts of a family can wait on this machine.
package enum PromptQueuing: Sendable {
    case none
    /// A host that has a prompt answers it, whether or not anyone reads the answer.
    case untilReceived
    /// The answer is stored on this machine only, so it has to be read.
    case untilAnswered
}

/// The kinds of code that a device can present to pair with a host.
package enum PairingCodeKind: Sendable {
    case digits
    /// A QR code with six digits and a token. Hosts that show one pair with nobody who has no code.
    case picture
    /// A long token, typed or from a QR code.
    case token
}

extension Family {
    package func places(of host: PairedHost, in claims: [DiscoveredHost]) -> [CompanionEndpoint] { [] }

    package func prover(of host: PairedHost) throws -> @Sendable (CompanionEndpoint) async throws -> Void {
        { try await TCPProbe.connect(to: $0, timeouts: .lookup) }
    }

    package func transports(
        of host: DiscoveredHost,
        among endpoints: [DiscoveredEndpoint]
    ) -> (plain: [CompanionEndpoint], secure: [CompanionEndpoint]) {
        (endpoints.map(\.endpoint).unique, [])
    }

    package func look(at place: HostAddress, paired: PairedHosts) async throws -> SightedHost {
        let endpoint = place.endpoint(facts.usualPort)
        let health = try await health(at: endpoint, speaksTLS: false, timeouts: .lookup)
        return SightedHost(facts.name, at: endpoint, health: health, paired: paired)
    }

    package func watchHealth(
        of host: PairedHost,
        every interval: Duration,
        environment: AppEnvironment,
        _ take: (Result<HostHealth, CompanionClientError>) async throws -> Void
    ) async throws {
        try await poll(every: interval, take) {
            try await health(of: host, environment: environment, timeouts: .init())
        }
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

extension ServiceType {
    /// The services of all families with hosts that take a kind of code.
    package static func all(ofHostsWith code: PairingCodeKind) -> [ServiceType] {
        all.filter { $0.family?.behavior.facts.codes.contains(code) == true }
    }
}

extension HostFamily {
    /// The command that pairs with the family's host at an address.
    ///
    /// - Parameter url: In the form that `pair --url` takes.
    package func pairCommand(at url: String) -> String {
        "pairtool pair " + (isUsual ? "" : "--family \(rawValue) ") + "--url \(url)"
    }
}
