import CompanionApp
import CompanionWire
import Desktop
import Discovery
import Doctor
import Identity
import LocalState
import PairingAgent
import Terminal

/// Searches the network once and lists the hosts.
struct HostListing: Sendable {
    /// The service types to browse.
    let types: [ServiceType]
    /// Whether to stop at the first resolved host.
    let first: Bool
    /// The time limit; nil means 10 seconds for each search.
    let timeout: Duration?
    /// The DNS domain to look in; nil means the local network.
    let domain: String?
    let choice: DiscoveryChoice

    /// - Parameter probe: Probes the hosts. Default: they are not probed.
    /// - Throws: ``AppError``, also if no host was found; `DiscoveryError`, `RecordFileError`; `CancellationError`.
    func run(_ output: Output, probe: (@Sendable (inout [SightedHost]) async -> Void)? = nil) async throws {
        let environment = output.environment(choice)
        let client = try environment.discoveryClient(domain: domain)
        let paired = try PairedHostStore(directory: environment.paths.data).load()
        output.tell(of: USBDevice.appleDevices(root: output.context.environment["PAIRTOOL_SYSFS"] ?? "/sys"))
        let end = timeout.map { ContinuousClock.now + $0 }
        let looksEverywhere = domain == nil && !first && environment.discoveryInterface == nil
        let nobody = try await withThrowingTaskGroup(of: [SightedHost].self) { group in
            group.addTask { looksEverywhere ? await MeshHosts.rows(paired: paired, in: environment) : [] }
            return try await look(with: client, until: end) { snapshot in
                var snapshot = snapshot
                if first { snapshot.keepFirstResolved() }
                if snapshot.engine == .daemon, try environment.discoveryEngine == .auto, domain == nil, !first,
                    end.map({ $0 - .now > Self.shortestSecondLook }) ?? true, let why = snapshot.incomplete.first
                {
                    output.say("With the Avahi daemon, \(why). Looking again with the embedded engine.")
                    let embedded = try environment.discoveryClient(engine: .embedded)
                    snapshot.merge(try await look(with: embedded, until: end, then: \.self))
                }
                return await list(snapshot, and: try await group.next() ?? [], paired: paired, on: output, probe)
            }
        }
        guard var error = nobody else { return }
        if let cause = try await LikelyCauses.find(interface: environment.discoveryInterface) {
            error.details = [cause]
        }
        throw error
    }

    private func look<Result: Sendable>(
        with client: CompanionDiscoveryClient,
        until end: ContinuousClock.Instant?,
        then conclude: (DiscoverySnapshot) async throws -> Result
    ) async throws -> Result {
        // With --first and --timeout, wait for the first host; otherwise stop when the engine has settled.
        let waits = first && timeout != nil
        let isEnough: @Sendable (DiscoverySnapshot) -> Bool = { [first] snapshot in
            if first, snapshot.hosts.contains(where: { !$0.endpoints.isEmpty }) { return true }
            return snapshot.isSettled && !waits
        }
        return try await DiscoverySnapshot.run(
            client: client,
            types: types,
            limit: end.map { $0 - .now } ?? .seconds(10),
            until: isEnough,
            then: conclude
        )
    }

    /// - Parameter mesh: The hosts on machines of a mesh, where mDNS does not reach.
    /// - Returns: The error to report if no host was found; nil after a list.
    private func list(
        _ snapshot: DiscoverySnapshot,
        and mesh: [SightedHost],
        paired: PairedHosts,
        on output: Output,
        _ probe: (@Sendable (inout [SightedHost]) async -> Void)?
    ) async -> AppError? {
        var rows = snapshot.hosts.map { SightedHost($0, paired: paired) }
        let inSight = Set(rows.map(\.id))
        rows += mesh.filter { !inSight.contains($0.id) }
        guard !rows.isEmpty else { return snapshot.nobody }
        await probe?(&rows)
        SightedHost.markLookalikes(&rows, paired: paired)
        output.list(rows, columns: SightedHost.columns(rows, probe: probe != nil), id: \.id)
        if output.format == .text { explain(Set(rows.flatMap(\.marks)), on: output) }
        for why in snapshot.incomplete {
            output.warn("discovery.incomplete", "\(why)", next: snapshot.engine == .daemon ? Self.moreRecords : nil)
        }
        if !snapshot.isSettled, !first {
            output.warn(
                "discovery.unsettled",
                "stopped before all answers had arrived; there may be more hosts",
                next: "wait longer: --timeout 30s"
            )
        }
        return nil
    }

    private static let shortestSecondLook = Duration.seconds(1)
    private static let moreRecords =
        "pairtool discover --engine embedded, or raise cache-entries-max in /etc/avahi/avahi-daemon.conf"

    private func explain(_ marks: Set<AdvertMark>, on output: Output) {
        for mark in marks.sorted() { output.say("  \(mark.rawValue): \(mark.text)") }
    }
}
