import CompanionWire
package import Discovery
import PairingAgent

/// One look around the network, and the list of who is there.
package struct HostListing: Sendable {
    private let types: [ServiceType]
    /// Whether the first host that is resolved ends it.
    private let first: Bool
    private let timeout: Duration?
    private let domain: String?
    private let choice: DiscoveryChoice

    /// - Parameters:
    ///   - types: The service types to browse; none means all.
    ///   - first: Whether the first host that is resolved ends it.
    ///   - timeout: The longest that it may take. Default: 10 seconds for a look.
    ///   - domain: The DNS domain to look in. Default: the local network.
    ///   - choice: The engine and the interface.
    package init(
        types: [ServiceType],
        first: Bool,
        timeout: Duration? = nil,
        domain: String? = nil,
        choice: DiscoveryChoice
    ) {
        self.types = types.isEmpty ? ServiceType.all : types
        self.first = first
        self.timeout = timeout
        self.domain = domain
        self.choice = choice
    }

    /// - Parameters:
    ///   - probe: Asks the hosts how they are. Default: they are not asked.
    ///   - afterList: Called before the engine is shut down; may end the process. Default: nothing.
    /// - Returns: What there is to say where nobody is there, which is not said yet; nil after a list.
    /// - Throws: ``CommandError``, `DiscoveryError`, `PairedHostStoreError`; `CancellationError`.
    package func run(
        _ output: Output,
        probe: (@Sendable (inout [DiscoveredRow]) async -> Void)? = nil,
        afterList: @Sendable () -> Void = {}
    ) async throws -> BlankSurvey? {
        let context = output.context
        let errand = { @Sendable () async throws -> PairedHosts in
            output.tell(of: USBDevice.appleDevices(context: context))
            let paired = try PairedHostStore(directory: context.paths.data).load()
            await rehearse(output)
            return paired
        }
        let client = try choice.client(context: context, domain: domain)
        let end = timeout.map { ContinuousClock.now + $0 }
        return try await look(with: client, until: end, meanwhile: errand) { survey, paired in
            var survey = survey
            if first, let host = survey.hosts.first(where: { !$0.endpoints.isEmpty }) { survey.hosts = [host] }
            if survey.engine == .daemon, try choice.engine(context: context) == .auto, domain == nil, !first,
                end.map({ $0 - .now > Self.shortestSecondLook }) ?? true, let why = survey.incomplete.first
            {
                output.say("With the Avahi daemon, \(why). Looking again with the embedded engine.")
                let embedded = try choice.client(context: context, engine: .embedded)
                survey.merge(try await look(with: embedded, until: end, meanwhile: {}, then: { found, _ in found }))
            }
            let blank = await list(survey, paired, output, probe)
            if blank == nil { afterList() }
            return blank
        }
    }

    /// Lists a made-up host for nobody. A first list takes several times as long as a second one, for all that is set
    /// up only then: this way it is while the network is waited for.
    private func rehearse(_ output: Output) async {
        var context = output.context
        (context.stdout, context.stderr) = (NowhereSink(), NowhereSink())
        let name = "host"
        let address = IPAddress("127.0.0.1").map { CompanionEndpoint(address: $0, port: CompanionEndpoint.defaultPort) }
        let endpoints = address.map {
            [DiscoveredEndpoint(endpoint: $0, interface: name, type: .companion, hostName: name)]
        }
        let host = DiscoveredHost(
            id: name,
            name: name,
            instanceName: name,
            family: .copilotforge,
            types: [.companion],
            endpoints: endpoints ?? []
        )
        _ = await list(
            DiscoverySurvey(engine: .embedded, hosts: [host], isSettled: true),
            PairedHosts(),
            Output(context: context, format: output.format),
            nil
        )
    }

    private func look<Errand: Sendable, Result: Sendable>(
        with client: CompanionDiscoveryClient,
        until end: ContinuousClock.Instant?,
        meanwhile errand: @escaping @Sendable () async throws -> Errand,
        then conclude: (DiscoverySurvey, Errand) async throws -> Result
    ) async throws -> Result {
        // Whoever asks for the first host and names a time wants to wait for it; otherwise the engine's word ends it.
        let waits = first && timeout != nil
        let isEnough: @Sendable (inout DiscoverySurvey) -> Bool = { [first] survey in
            if first, survey.hosts.contains(where: { !$0.endpoints.isEmpty }) { return true }
            return survey.isSettled && !waits
        }
        return try await DiscoverySurvey.run(
            client: client,
            types: types,
            limit: end.map { $0 - .now } ?? .seconds(10),
            until: isEnough,
            meanwhile: errand,
            then: conclude
        )
    }

    private func list(
        _ survey: DiscoverySurvey,
        _ paired: PairedHosts,
        _ output: Output,
        _ probe: (@Sendable (inout [DiscoveredRow]) async -> Void)?
    ) async -> BlankSurvey? {
        var rows = survey.hosts.map { DiscoveredRow($0, paired: paired) }
        guard !rows.isEmpty else { return BlankSurvey(survey) }
        await probe?(&rows)
        DiscoveredRow.markLookalikes(&rows, paired: paired)
        output.list(rows, columns: DiscoveredRow.columns(rows, probe: probe != nil), id: \.id)
        if output.format == .text { explain(Set(rows.flatMap(\.marks)), output) }
        for why in survey.incomplete {
            output.warn("discovery.incomplete", "\(why)", next: survey.engine == .daemon ? Self.moreRecords : nil)
        }
        if !survey.isSettled, !first {
            output.warn(
                "discovery.unsettled",
                "Stopped before all answers were in: there may be more hosts (--timeout SECONDS)."
            )
        }
        return nil
    }

    private static let shortestSecondLook = Duration.seconds(1)
    private static let moreRecords =
        "pairtool discover --engine embedded, or raise cache-entries-max in /etc/avahi/avahi-daemon.conf"

    private func explain(_ marks: Set<AdvertMark>, _ output: Output) {
        for mark in marks.sorted() { output.say("  \(mark.rawValue): \(mark.text)") }
    }
}
