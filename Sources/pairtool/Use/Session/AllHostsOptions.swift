import ArgumentParser
import CompanionApp
import CompanionClient
import CompanionWire
import FoundationEssentials
import Identity
import PairingAgent
import Terminal

/// Whether a command asks all paired hosts instead of one.
struct AllHostsOptions: ParsableArguments {
    @Flag(help: "Ask all paired hosts at the same time.")
    var allHosts = false

    @Option(
        help: ArgumentHelp(
            "With --all-hosts: how long to wait for a host that does not answer. Default: 5s.",
            valueName: "time"
        ),
        transform: TimeSpan.init(wait:)
    )
    var timeout: TimeSpan?

    /// How long to wait for a host; nil if the user does not say.
    var limit: Duration? { timeout?.duration }

    /// - Throws: `ValidationError` for options that cannot be used together.
    func check(_ host: HostOptions) throws {
        if allHosts, host.host != nil { throw ValidationError("--all-hosts and --host cannot be used together.") }
        if timeout != nil, !allHosts { throw ValidationError("--timeout needs --all-hosts.") }
    }
}

/// A row of one of several hosts, in JSON.
struct HostRow<Row: Encodable & Sendable>: Encodable, Sendable {
    var row: Row
    var host: PairedHost
    var source = AnswerSource.host

    private enum CodingKeys: String, CodingKey {
        case hostId, hostName
    }

    func encode(to encoder: any Encoder) throws {
        try row.encode(to: encoder)
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(host.id, forKey: .hostId)
        try container.encode(host.name, forKey: .hostName)
        try source.encode(to: encoder)
    }
}

/// A row of something that changes.
protocol DatedRow: Encodable, Sendable {
    var id: String { get }
    var lastUpdatedAt: Date? { get }
}

extension Output {
    /// Shows rows of several hosts.
    func list<Row: DatedRow>(
        _ rows: [HostRow<Row>],
        title: (heading: String, value: (Row) -> String),
        place: (heading: String, value: (Row) -> String),
        more: [TableColumn<HostRow<Row>>] = []
    ) {
        let now = context.now()
        let columns: [TableColumn<HostRow<Row>>] = [
            TableColumn(title.heading, shrinks: true, rank: 0) { title.value($0.row) },
            TableColumn("HOST", shrinks: true, rank: 0) { $0.host.name },
            TableColumn("UPDATED", rank: 2) { TimeText.ago($0.row.lastUpdatedAt, now: now) },
            .id(rank: 1) { $0.row.id },
            TableColumn(place.heading, shrinks: true, rank: 3) { place.value($0.row) },
        ]
        list(rows, columns: columns + more, id: \.row.id)
    }
}

extension Answer {
    func row<Row: Encodable>(_ row: Row) -> HostRow<Row> {
        HostRow(row: row, host: host, source: source)
    }
}

extension HostAnswers {
    /// The rows of all items, the newest first.
    func rows<Item, Row: DatedRow>(_ row: (Item) -> Row) -> [HostRow<Row>] where Value == [Item] {
        answers.flatMap { answer in answer.value.map { answer.row(row($0)) } }
            .sorted { ($0.row.lastUpdatedAt ?? .distantPast) > ($1.row.lastUpdatedAt ?? .distantPast) }
    }

    /// Reports the hosts that did not answer, one line each.
    func reportFailures(_ output: Output) {
        for (host, error) in failures { output.warn(error.naming(host)) }
    }
}
