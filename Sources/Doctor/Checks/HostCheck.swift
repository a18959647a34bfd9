package import CompanionClient
package import CompanionWire
package import Identity

/// The state of a paired host, and of this device's pairing with it.
package struct HostCheck: DoctorCheck {
    package let name = CheckName.host
    private let host: PairedHost
    private let isAdvertised: Bool
    private let usesToken: Bool
    private let ask: @Sendable () async throws -> HostHealth
    private let lookElsewhere: @Sendable () async throws -> CompanionEndpoint?

    /// The record of a host, or a secret that belongs to it, cannot be used.
    package struct UnusableRecord: Error {
        let message: String

        /// - Parameter message: The reason, as text for users.
        package init(_ message: String) {
            self.message = message
        }
    }

    /// - Parameters:
    ///   - isAdvertised: Whether hosts of its family advertise themselves.
    ///   - usesToken: Whether this device paired with a token, which the host takes until it gets another one.
    ///   - ask: Asks the host for its state. Throws `CompanionClientError` or ``UnusableRecord``.
    ///   - lookElsewhere: Looks for another address in the advertisements of a host that does not answer.
    package init(
        host: PairedHost,
        isAdvertised: Bool,
        usesToken: Bool,
        ask: @escaping @Sendable () async throws -> HostHealth,
        lookElsewhere: @escaping @Sendable () async throws -> CompanionEndpoint?
    ) {
        self.host = host
        self.isAdvertised = isAdvertised
        self.usesToken = usesToken
        self.ask = ask
        self.lookElsewhere = lookElsewhere
    }

    package func findings() async throws -> [Finding] {
        do {
            return findings(try await ask())
        } catch let error as CompanionClientError {
            guard [.unreachable, .timedOut].contains(error.code), let place = try await lookElsewhere() else {
                return [unreachable(error)]
            }
            return [moved(to: place)]
        } catch let error as UnusableRecord {
            return [.problem(.host, about: host.name, evidence: error.message, advice: .pairAgain)]
        }
    }

    /// Whether the host is a pairtool: as it says, else as only such hosts can be paired with proof.
    private func isPairtool(_ health: HostHealth? = nil) -> Bool {
        guard let service = health?.service else { return host.trust == .verified }
        return service.isSame(as: "pairtool-host")
    }

    private func moved(to place: CompanionEndpoint) -> Finding {
        .warning(
            .host,
            about: host.name,
            evidence: "does not answer at \(host.place), but is advertised at \(place.address)",
            advice: .follow,
            values: ["HOST": host.name]
        )
    }

    private func unreachable(_ error: CompanionClientError) -> Finding {
        let evidence = "at \(host.place): \(error)"
        let values = ["HOST": host.name]
        return switch error.code {
        case .pinMismatch: .problem(.host, about: host.name, evidence: evidence, advice: .checkKey, values: values)
        case .notACompanion, .redirected, .badAnswer:
            .problem(.host, about: host.name, evidence: evidence, advice: .findPort, values: values)
        case .unsupportedVersion:
            .problem(
                .version,
                about: host.name,
                evidence: evidence,
                advice: isPairtool() ? .updateHost : .update,
                values: values
            )
        default:
            .problem(
                .host,
                about: host.name,
                evidence: evidence,
                advice: isAdvertised ? .reach : .reachDaemon,
                values: values
            )
        }
    }

    private func findings(_ health: HostHealth) -> [Finding] {
        let url = "\(host.spki == nil ? "http" : "https")://\(host.endpoint)"
        let values = ["HOST": host.name, "URL": url, "FAMILY": host.family.rawValue]
        guard !health.isForeign else {
            let evidence = "at \(host.place): \(health.service ?? "another service") answers"
            return [.problem(.host, about: host.name, evidence: evidence, advice: .findPort)]
        }
        let via = host.rung == .direct ? "" : ", via \(host.rung.rawValue)"
        let answers = "answers at \(health.place) (trust: \(host.trust.rawValue)\(via))"
        let place: Finding =
            if let trouble = health.trouble {
                .warning(
                    .host,
                    about: host.name,
                    evidence: "\(answers), but is \(trouble)",
                    advice: .lookAfter,
                    values: values
                )
            } else if health.place != host.place {
                .warning(
                    .host,
                    about: host.name,
                    evidence: "\(answers), not at \(host.place)",
                    advice: .reachDaemon,
                    values: values
                )
            } else {
                .ok(.host, about: host.name, evidence: answers)
            }
        return [
            place, version(health), signIn(health, values: values), pairing(health, values: values),
            health.protocolVersions != nil ? Self.clock(host, offset: health.clockOffset) : nil,
        ].compactMap(\.self)
    }

    /// - Returns: nil if the host reports no version.
    private func version(_ health: HostHealth) -> Finding? {
        let program = [health.service, health.version, health.generation.map { "(\($0))" }].compactMap(\.self)
        guard let versions = health.protocolVersions else {
            guard !program.isEmpty else { return nil }
            let text = program.joined(separator: " ") + (health.limits.map { ": \($0)" } ?? "")
            return .ok(.version, about: host.name, evidence: text)
        }
        let evidence =
            "\(program.joined(separator: " ")), protocol \(versions.map(String.init).joined(separator: " and "))"
        let needed = host.trust == .verified ? 2 : 1
        guard versions.contains(needed) else {
            return .problem(
                .version,
                about: host.name,
                evidence: "\(evidence), but it was paired with protocol \(needed)",
                advice: isPairtool(health) ? .updateHost : .update,
                values: ["HOST": host.name]
            )
        }
        guard needed == 2 || !versions.contains(2) else {
            return .warning(
                .version,
                about: host.name,
                evidence: "\(evidence), but it was paired with protocol 1 and proves nothing",
                advice: .prove
            )
        }
        return .ok(.version, about: host.name, evidence: evidence)
    }

    /// - Returns: nil if the assistant works, or if the host does not report it and does not need to.
    private func signIn(_ health: HostHealth, values: [String: String]) -> Finding? {
        switch health.assistant {
        case .account(true): .ok(.signIn, about: host.name, evidence: "the assistant's account is signed in")
        case .account(false) where isPairtool(health):
            .problem(
                .signIn,
                about: host.name,
                evidence: "its agent is not installed, or not signed in",
                advice: .repairAgent,
                values: values
            )
        case .account(false):
            .problem(
                .signIn,
                about: host.name,
                evidence: "the assistant's account is not signed in",
                advice: .signIn,
                values: values
            )
        case .account(nil): .skipped(.signIn, about: host.name, evidence: "the host does not say")
        case .program(false):
            .problem(
                .signIn,
                about: host.name,
                evidence: "the assistant's program does not answer there",
                advice: .startAssistant,
                values: values
            )
        case .program, nil: nil
        }
    }

    /// - Returns: nil if hosts of the family keep no list of devices, and there is no sign of a problem.
    private func pairing(_ health: HostHealth, values: [String: String]) -> Finding? {
        guard let standing = health.standing else { return nil }
        if let error = standing.failure {
            switch error.code {
            case .revoked:
                return .problem(.pairing, about: host.name, evidence: "\(error)", advice: .newCode, values: values)
            case .unsupportedVersion:
                let advice = isPairtool(health) ? Advice.updateHost : .update
                return .problem(.pairing, about: host.name, evidence: "\(error)", advice: advice, values: values)
            case .notPaired, .sessionExpired, .forbidden:
                return .problem(.pairing, about: host.name, evidence: "\(error)", advice: .pairAgain)
            default: return .problem(.pairing, about: host.name, evidence: "\(error)", advice: .runAgain)
            }
        }
        guard !usesToken else {
            let evidence = "the host no longer accepts this device's token"
            return standing.isConnected
                ? nil : .problem(.pairing, about: host.name, evidence: evidence, advice: .newToken, values: values)
        }
        if standing.isConnected {
            let until = standing.expiresAt.map { " until \(CompanionTimestamp.string(from: $0))" } ?? ""
            return .ok(.pairing, about: host.name, evidence: "this device is connected\(until)")
        }
        // With protocol v1, a host has one device at a time.
        if host.trust == .legacy, let other = standing.connectedDevice {
            let evidence = "this device was replaced by \(other.name) (\(other.id))"
            return .problem(.pairing, about: host.name, evidence: evidence, advice: .pairAgain)
        }
        return .problem(.pairing, about: host.name, evidence: "the host does not know this device", advice: .pairAgain)
    }

    /// The limits of companion-v2, Signed commands: `issuedAt` may be 60 s ahead of the host's clock, and a command is
    /// valid for at most 300 s.
    private static let allowed = Duration.seconds(-60) ... .seconds(300)
    /// Differences that are not reported: the `Date` header has whole seconds, and networks add delay.
    private static let quiet = Duration.seconds(-30) ... .seconds(30)

    static func clock(_ host: PairedHost, offset: Duration?) -> Finding {
        guard let offset else { return .skipped(.clock, about: host.name, evidence: "the host does not give its time") }
        let span = offset.span
        let evidence = "its clock is \(span) \(offset < .zero ? "behind" : "ahead of") this machine's"
        let limits = "(allowed: 60 s behind, 300 s ahead)"
        guard allowed.contains(offset) else {
            return .problem(.clock, about: host.name, evidence: "\(evidence) \(limits)", advice: .setClocks)
        }
        return quiet.contains(offset)
            ? .ok(
                .clock,
                about: host.name,
                evidence: "the clocks agree to \(max(1, Int(offset.components.seconds.magnitude))) s"
            )
            : .warning(.clock, about: host.name, evidence: "\(evidence) \(limits)", advice: .setClocks)
    }
}

/// For when no host is paired, or the records cannot be read.
package struct NoHostCheck: DoctorCheck {
    package let name = CheckName.host
    private let areUnreadable: Bool

    /// - Parameter areUnreadable: Whether the records cannot be read; ``FileCheck`` reports that.
    package init(areUnreadable: Bool = false) {
        self.areUnreadable = areUnreadable
    }

    package func findings() -> [Finding] {
        areUnreadable
            ? [.skipped(.host, evidence: "the records of paired hosts cannot be read")]
            : [.skipped(.host, evidence: "no host is paired", advice: .pair)]
    }
}
