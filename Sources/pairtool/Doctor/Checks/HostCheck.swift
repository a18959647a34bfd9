import CompanionClient
import CompanionWire
import Discovery
import PairingAgent

/// How a paired host is, and how this device stands with it.
struct HostCheck: DoctorCheck {
    let name = CheckName.host
    let host: PairedHost
    let output: Output
    /// For looking where a host that does not answer has moved.
    let client: CompanionDiscoveryClient

    private static let timeouts = CompanionClientConfiguration.Timeouts(connect: .seconds(2), request: .seconds(4))

    /// What was asked of the host and what came.
    struct Answers: Sendable {
        var health: CompanionHealthResponse
        var status: Result<CompanionStatusResponse, CompanionClientError>
        /// Absent if the host does not say.
        var signedIn: Bool?
        /// The host's clock minus ours.
        var clockOffset: Duration?
    }

    func findings() async throws -> [Finding] {
        guard host.family == .copilotforge else {
            return try await FamilyHostCheck(host: host, context: output.context, timeouts: Self.timeouts)
                .findings()
        }
        do {
            let configuration = CompanionClientConfiguration(timeouts: Self.timeouts)
            let answers = try await HostSession.with(host, output: output, configuration: configuration, Self.ask)
            return Self.findings(host, answers)
        } catch let error as CompanionClientError where [.unreachable, .timedOut].contains(error.code) {
            let elsewhere = try await advertisedPlace()
            return [elsewhere.map { Self.moved(host, to: $0) } ?? Self.unreachable(host, error)]
        } catch let error as CompanionClientError {
            return [Self.unreachable(host, error)]
        } catch let error as CommandError {
            return [.problem(.host, about: host.name, error.message, .pairAgain)]
        }
    }

    private static func ask(_ session: HostSession) async throws -> Answers {
        let client = try session.copilotForge
        let health = try await client.health()
        let status: Result<CompanionStatusResponse, CompanionClientError>
        do {
            status = .success(try await client.status())
        } catch let error as CompanionClientError {
            status = .failure(error)
        }
        let signedIn = try? await client.authStatus().authenticated
        return Answers(health: health, status: status, signedIn: signedIn, clockOffset: client.clockOffset)
    }

    /// The new address of the host according to advertisements; nil if they have none. It was not contacted there.
    private func advertisedPlace() async throws -> CompanionEndpoint? {
        let id = host.id
        let snapshot = try await DiscoverySnapshot.run(
            client: client,
            types: [.companion, .companionShort],
            limit: .seconds(3)
        ) { snapshot in
            snapshot.isSettled || snapshot.hosts.contains { $0.advertisedID == id && !$0.endpoints.isEmpty }
        }
        return snapshot.hosts.filter { $0.advertisedID == id }.flatMap(\.endpoints).map(\.endpoint)
            .first { !host.covers($0) }
    }

    static func moved(_ host: PairedHost, to place: CompanionEndpoint) -> Finding {
        .warning(
            .host,
            about: host.name,
            "does not answer at \(host.endpoint), but is advertised at \(place.address)",
            .follow,
            ["HOST": host.name]
        )
    }

    static func unreachable(_ host: PairedHost, _ error: CompanionClientError) -> Finding {
        let evidence = "at \(host.endpoint): \(error)"
        let values = ["HOST": host.name]
        return switch error.code {
        case .pinMismatch: .problem(.host, about: host.name, evidence, .checkKey, values)
        case .notACompanion, .redirected, .badAnswer: .problem(.host, about: host.name, evidence, .findPort, values)
        case .unsupportedVersion: .problem(.version, about: host.name, evidence, .update, values)
        default: .problem(.host, about: host.name, evidence, .reach, values)
        }
    }

    static func findings(_ host: PairedHost, _ answers: Answers) -> [Finding] {
        guard answers.health.isCompanion else {
            let evidence = "at \(host.endpoint): \(answers.health.service ?? "another service") answers"
            return [.problem(.host, about: host.name, evidence, .findPort)]
        }
        return [
            .ok(.host, about: host.name, "answers at \(host.endpoint) (trust: \(host.trust.rawValue))"),
            version(host, answers.health),
            signIn(host, answers.signedIn),
            pairing(host, answers.status),
            clock(host, answers.clockOffset),
        ]
    }

    private static func version(_ host: PairedHost, _ health: CompanionHealthResponse) -> Finding {
        let versions = health.protocolVersions ?? [1]
        let program = "\(health.service ?? "?") \(health.version ?? "")".trimmingBlanks()
        let evidence = "\(program), protocol \(versions.map(String.init).joined(separator: " and "))"
        let needed = host.trust == .verified ? 2 : 1
        guard versions.contains(needed) else {
            return .problem(
                .version,
                about: host.name,
                "\(evidence), but it was paired with protocol \(needed)",
                .update,
                ["HOST": host.name]
            )
        }
        guard needed == 2 || !versions.contains(2) else {
            return .warning(
                .version,
                about: host.name,
                "\(evidence), but it was paired with protocol 1 and proves nothing",
                .prove
            )
        }
        return .ok(.version, about: host.name, evidence)
    }

    private static func signIn(_ host: PairedHost, _ signedIn: Bool?) -> Finding {
        switch signedIn {
        case true?: .ok(.signIn, about: host.name, "the assistant's account is signed in")
        case false?:
            .problem(
                .signIn,
                about: host.name,
                "the assistant's account is not signed in",
                .signIn,
                ["HOST": host.name]
            )
        case nil: .skipped(.signIn, about: host.name, "the host does not say")
        }
    }

    private static func pairing(
        _ host: PairedHost,
        _ status: Result<CompanionStatusResponse, CompanionClientError>
    ) -> Finding {
        let values = ["HOST": host.name]
        switch status {
        case .failure(let error):
            switch error.code {
            case .revoked: return .problem(.pairing, about: host.name, "\(error)", .newCode, values)
            case .unsupportedVersion: return .problem(.pairing, about: host.name, "\(error)", .update, values)
            case .notPaired, .sessionExpired, .forbidden:
                return .problem(.pairing, about: host.name, "\(error)", .pairAgain)
            default: return .problem(.pairing, about: host.name, "\(error)", .runAgain)
            }
        case .success(let status):
            let named = host.trust == .verified ? status.device?.id : status.connectedDevice?.id
            if named == host.deviceID {
                let until = status.expiresAt.map { " until \(CompanionTimestamp.string(from: $0))" } ?? ""
                return .ok(.pairing, about: host.name, "this device is connected\(until)")
            }
            // By protocol 1 the host has one device at a time.
            if host.trust == .legacy, let other = status.connectedDevice {
                let evidence = "this device was replaced by \(other.name) (\(other.id))"
                return .problem(.pairing, about: host.name, evidence, .pairAgain)
            }
            return .problem(.pairing, about: host.name, "the host does not know this device", .pairAgain)
        }
    }

    /// The limits of companion-v2, Signed commands: `issuedAt` may be 60 s ahead of the host's clock, and a command is
    /// valid for 300 s at most.
    private static let allowed = Duration.seconds(-60) ... .seconds(300)
    /// What is not worth a word: the `Date` header has whole seconds, and networks take their time.
    private static let quiet = Duration.seconds(-30) ... .seconds(30)

    static func clock(_ host: PairedHost, _ offset: Duration?) -> Finding {
        guard let offset else { return .skipped(.clock, about: host.name, "the host does not give its time") }
        let span = TimeText.span(Double(offset.components.seconds))
        let evidence = "its clock is \(span) \(offset < .zero ? "behind" : "ahead of") this machine's"
        let limits = "(allowed: 60 s behind, 300 s ahead)"
        guard allowed.contains(offset) else {
            return .problem(.clock, about: host.name, "\(evidence) \(limits)", .setClocks)
        }
        return quiet.contains(offset)
            ? .ok(.clock, about: host.name, "the clocks agree to \(max(1, Int(offset.components.seconds.magnitude))) s")
            : .warning(.clock, about: host.name, "\(evidence) \(limits)", .setClocks)
    }
}

/// Where no host is paired, or their records cannot be read.
struct NoHostCheck: DoctorCheck {
    let name = CheckName.host
    /// Whether there may be records that cannot be read: the check of the files tells of them.
    var areUnreadable = false

    func findings() -> [Finding] {
        areUnreadable
            ? [.skipped(.host, "the records of paired hosts cannot be read")]
            : [.skipped(.host, "no host is paired", .pair)]
    }
}
