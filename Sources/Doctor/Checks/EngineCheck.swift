package import DBus
package import Discovery

/// Whether the system bus and the Avahi daemon run, and which engine is used as a result.
package struct EngineCheck: DoctorCheck {
    package let name = CheckName.daemon
    private let choice: DiscoveryEngineChoice
    private let client: CompanionDiscoveryClient
    private let bus: DBusAddress

    /// - Parameters:
    ///   - choice: The engine that the user wants.
    ///   - client: A client with that engine.
    ///   - bus: The system bus.
    package init(choice: DiscoveryEngineChoice, client: CompanionDiscoveryClient, bus: DBusAddress) {
        self.choice = choice
        self.client = client
        self.bus = bus
    }

    package func findings() async throws -> [Finding] {
        let report = try await DaemonReport.ask(bus, limit: .milliseconds(1500))
        return [Self.finding(report), await engine(report)]
    }

    static func finding(_ report: DaemonReport) -> Finding {
        switch report {
        case .noBus(let path):
            .note(
                .daemon,
                evidence: "there is no system bus at \(path), so there is no Avahi daemon",
                advice: .installDaemon
            )
        case .busBroken(let reason):
            .problem(.daemon, evidence: "the system bus does not work: \(reason)", advice: .restartBus)
        case .noDaemon:
            .note(.daemon, evidence: "the system bus works, but no Avahi daemon is on it", advice: .installDaemon)
        case .daemonBroken(let reason):
            .problem(.daemon, evidence: "the Avahi daemon does not work: \(reason)", advice: .restartDaemon)
        case .daemon(let version, let hostName, .running): .ok(.daemon, evidence: "\(version) runs as \(hostName)")
        case .daemon(let version, let hostName, .registering):
            .warning(.daemon, evidence: "\(version) is still establishing the name \(hostName)", advice: .runAgain)
        case .daemon(let version, let hostName, .collision):
            .problem(.daemon, evidence: "\(version): another machine has the name \(hostName)", advice: .renameMachine)
        case .daemon(let version, let hostName, _):
            .problem(.daemon, evidence: "\(version) has failed (host name \(hostName))", advice: .restartDaemon)
        }
    }

    private func engine(_ report: DaemonReport) async -> Finding {
        let why: String
        let used: DiscoveryEngineKind
        do {
            used = try await client.resolvedEngine()
        } catch {
            // With `auto`, neither engine works.
            let other: String? =
                switch (choice, report) {
                case (.daemon, _): "embedded"
                case (.embedded, .daemon(_, _, .running)): "daemon"
                default: nil
                }
            let text = "\(choice.rawValue): \(error)"
            guard let other else { return .problem(.engine, evidence: text, advice: .runAgain) }
            return .problem(.engine, evidence: text, advice: .chooseEngine, values: ["ENGINE": other])
        }
        switch (choice, used) {
        case (.auto, .daemon): why = "the Avahi daemon answers"
        case (.auto, .embedded): why = "no Avahi daemon answers"
        default: why = "--engine asks for it"
        }
        return .ok(.engine, evidence: "\(used.rawValue), because \(why)")
    }
}
