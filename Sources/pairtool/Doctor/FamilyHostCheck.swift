import CompanionClient
import CompanionWire
import PairingAgent

/// How a paired host of another family than CopilotForge's does.
struct FamilyHostCheck: Sendable {
    let host: PairedHost
    let context: CommandContext
    let timeouts: CompanionClientConfiguration.Timeouts

    func findings() async throws -> [Finding] {
        do {
            return Self.findings(host, try await FamilyHealth.ask(host, context: context, timeouts: timeouts))
        } catch let error as CompanionClientError {
            return [Self.unreachable(host, error)]
        }
    }

    static func findings(_ host: PairedHost, _ health: FamilyHealth) -> [Finding] {
        let values = ["HOST": host.name, "URL": host.url]
        let answers = "answers at \(health.place) (trust: \(host.trust.rawValue))"
        var findings: [Finding] =
            if let trouble = health.trouble {
                [.warning(.host, about: host.name, "\(answers), but is \(trouble)", .lookAfter, values)]
            } else if health.place != "\(host.endpoint)" {
                [.warning(.host, about: host.name, "\(answers), not at \(host.endpoint)", .reachDaemon, values)]
            } else {
                [.ok(.host, about: host.name, answers)]
            }
        let program = [health.service, health.version, health.generation.map { "(\($0))" }].compactMap(\.self)
        if !program.isEmpty {
            let text = program.joined(separator: " ") + (health.limits.map { ": \($0)" } ?? "")
            findings.append(.ok(.version, about: host.name, text))
        }
        if health.hasAssistant == false {
            let evidence = "the assistant's program does not answer there"
            findings.append(.problem(.signIn, about: host.name, evidence, .startAssistant, values))
        }
        if health.takesToken == false {
            let evidence = "the host does not take this device's token any more"
            findings.append(.problem(.pairing, about: host.name, evidence, .newToken, values))
        }
        return findings
    }

    static func unreachable(_ host: PairedHost, _ error: CompanionClientError) -> Finding {
        let evidence = "at \(host.endpoint): \(error)"
        let values = ["HOST": host.name]
        return switch error.code {
        case .pinMismatch: .problem(.host, about: host.name, evidence, .checkKey, values)
        case .notACompanion, .redirected, .badAnswer: .problem(.host, about: host.name, evidence, .findPort, values)
        default:
            .problem(.host, about: host.name, evidence, host.family == .jarvis ? .reachDaemon : .reach, values)
        }
    }
}
