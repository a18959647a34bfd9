import CompanionApp
import CompanionClient
import CompanionWire
import Discovery
import FoundationEssentials
import Identity
import Terminal

/// Prints hosts as they appear, change and leave.
struct DiscoveryWatch: Sendable {
    /// The time between two probes of a host.
    static let probePause = Duration.seconds(5)

    let output: Output
    let paired: PairedHosts
    let probes: Bool

    private struct Event: Encodable {
        var event: String
        var at: Date
        /// The engine that was lost, or that continues.
        var engine: String?
        var host: SightedHost?
        var message: String?
    }

    /// An input of the loop.
    private enum Input: Sendable {
        case discovery(DiscoveryEvent)
        case roundIsDue
        case probed(SightedHost, ProbeResult)
    }

    func run(client: CompanionDiscoveryClient, types: [ServiceType], limit: Duration?) async throws {
        _ = try await withTimeLimit(limit) {
            try await client.withBrowse(types: types, watching: true) { engine, events in
                output.say("Watching with the \(engine.rawValue) mDNS engine. Ctrl-C ends it.")
                await watch(events)
            }
        }
        try Task.checkCancellation()
    }

    /// Shows a host as soon as it is found. Probes may take seconds, so they run concurrently.
    private func watch(_ events: AsyncStream<DiscoveryEvent>) async {
        let (inputs, input) = AsyncStream.makeStream(of: Input.self)
        await withDiscardingTaskGroup { group in
            group.addTask {
                for await event in events { input.yield(.discovery(event)) }
                input.finish()
            }
            if probes {
                group.addTask {
                    while (try? await Task.sleep(for: Self.probePause)) != nil { input.yield(.roundIsDue) }
                }
            }
            var table = WatchedHostTable(paired: paired, probes: probes)
            for await next in inputs {
                for action in take(next, in: &table) {
                    switch action {
                    case .show(let change, let row): show(change, row: row)
                    case .probe(let row):
                        group.addTask { input.yield(.probed(row, await Probe.probe(row))) }
                    }
                }
            }
            group.cancelAll()
        }
    }

    private func take(_ input: Input, in table: inout WatchedHostTable) -> [WatchedHostTable.Action] {
        switch input {
        case .roundIsDue: return table.roundIsDue()
        case .probed(let row, let result): return table.probed(row, with: result)
        case .discovery(let event):
            note(event)
            return table.take(event)
        }
    }

    private func note(_ event: DiscoveryEvent) {
        switch event {
        case .added, .changed, .removed: break
        case .settled:
            if output.format == .json { output.json(Event(event: "settled", at: output.context.now())) }
        case .incomplete(let why):
            note("incomplete", engine: nil, message: why.description)
        case .interrupted(let error, let engine):
            note("interrupted", engine: engine, message: "\(error); trying again")
        case .resumed(let engine):
            note("resumed", engine: engine, message: "continuing with the \(engine.rawValue) mDNS engine")
        }
    }

    private func show(_ change: WatchedHostTable.Change, row: SightedHost) {
        let now = output.context.now()
        let sign =
            switch change {
            case .added: "+"
            case .changed: "~"
            case .removed: "-"
            case .probed: "?"
            }
        switch output.format {
        case .json: output.json(Event(event: change.rawValue, at: now, host: row))
        case .quiet: output.data(TerminalText.line("\(sign)\(row.id)"))
        case .text:
            let health = row.probe.map { "  \($0.text)" } ?? ""
            let marks = row.marks.isEmpty ? "" : "  ! \(row.marks.map(\.rawValue).joined(separator: ", "))"
            let time = LocalTime.clock(now)
            output.data(
                TerminalText.line(
                    "\(time) \(sign) \(row.name)  \(row.programName)  \(row.addressText)\(health)\(marks)"
                )
            )
        }
    }

    private func note(_ name: String, engine: DiscoveryEngineKind?, message: String) {
        if output.format == .json {
            output.json(
                Event(event: name, at: output.context.now(), engine: engine?.rawValue, message: message)
            )
        } else {
            output.say(message)
        }
    }
}
