import CompanionWire
import Discovery
import FoundationEssentials
import PairingAgent

/// Prints hosts as they appear, change and leave.
struct DiscoveryWatch: Sendable {
    let output: Output
    let paired: PairedHosts
    let probes: Bool

    private struct Event: Encodable {
        var event: String
        var at: Date
        var host: DiscoveredRow?
        var message: String?
    }

    func run(client: CompanionDiscoveryClient, types: [ServiceType], limit: Duration?) async throws {
        _ = try await withTimeLimit(limit) {
            try await client.withBrowse(types: types, watching: true) { engine, events in
                output.say("Watching with the \(engine.rawValue) mDNS engine. Ctrl-C ends it.")
                for await event in events { await show(event) }
            }
        }
        try Task.checkCancellation()
    }

    private func show(_ event: DiscoveryEvent) async {
        switch event {
        case .added(let host): await show("added", "+", host)
        case .changed(let host): await show("changed", "~", host)
        case .removed(let host): await show("removed", "-", host)
        case .settled: if output.format == .json { write(Event(event: "settled", at: output.context.now())) }
        case .incomplete(let why): note("incomplete", why.description)
        case .interrupted(let error): note("interrupted", "\(error); trying again")
        case .resumed: note("resumed", "the mDNS engine is back")
        }
    }

    private func show(_ name: String, _ sign: String, _ host: DiscoveredHost) async {
        var row = DiscoveredRow(host, paired: paired)
        if probes, name != "removed" { row.probe = await Probe.probe(row) }
        let now = output.context.now()
        switch output.format {
        case .json: write(Event(event: name, at: now, host: row))
        case .quiet: output.data("\(sign)\(row.id)")
        case .text:
            let health = row.probe.map { "  \($0.text)" } ?? ""
            let marks = row.marks.isEmpty ? "" : "  ! \(row.marks.map(\.rawValue).joined(separator: ", "))"
            let time = now.formatted(Date.ISO8601FormatStyle().time(includingFractionalSeconds: false))
            output.data(
                TerminalText.line(
                    "\(time) \(sign) \(row.name)  \(row.family.displayName)  \(row.addressText)\(health)\(marks)"
                )
            )
        }
    }

    private func note(_ name: String, _ message: String) {
        if output.format == .json {
            write(Event(event: name, at: output.context.now(), message: message))
        } else {
            output.say(message)
        }
    }

    private func write(_ event: Event) {
        output.json(event)
    }
}
