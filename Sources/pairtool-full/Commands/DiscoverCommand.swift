import ArgumentParser
import CommandCore
import CompanionWire
import Discovery
import PairingAgent

struct DiscoverCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "discover",
        abstract: "Find the hosts on your network.",
        discussion: """
            Browses all known service types at once and ends as soon as the mDNS engine has had all known answers and every \
            one is resolved. Adverts are claims that anyone on the network can make: --probe asks the hosts themselves. \
            Apple devices on this machine's USB bus are told of, too.
            """
    )

    @Flag(help: "Keep watching: print hosts as they appear, change and leave.")
    var watch = false

    @Flag(help: "End with the first host that is resolved.")
    var first = false

    @Option(
        help: "The most seconds to take. Default: 10; with --watch no limit.",
        transform: Seconds.init(commandLine:)
    )
    var timeout: Seconds?

    @Option(
        name: .customLong("type"),
        help: "Browse this service type only, for example _lumiagent._tcp (repeatable).",
        transform: { text in
            guard let type = ServiceType(text) else {
                throw ValidationError("a service type is such as _lumiagent._tcp, of letters, digits and hyphens.")
            }
            return type
        }
    )
    var types: [ServiceType] = []

    @Flag(
        help: "Ask each host whether it is up and what it is. Lumi hosts are connected to, and nothing is sent to them."
    )
    var probe = false

    @Option(
        help: "Ask at this address only, past mDNS: ADDRESS[:PORT].",
        transform: { text in
            guard let place = HostPlace(text) else {
                throw ValidationError("“\(TerminalText.line(text))” is no address; names are not looked up.")
            }
            return place
        }
    )
    var host: HostPlace?

    @Option(
        help:
            "Look in this DNS domain, where wide-area DNS-SD is set up for it (needs the Avahi daemon). Default: local."
    )
    var domain: String?

    @OptionGroup var discovery: DiscoveryOptions
    @OptionGroup var options: OutputOptions

    func validate() throws {
        if let domain, !Self.isDomain(domain) {
            throw ValidationError("“\(TerminalText.line(domain))” is no DNS domain.")
        }
        if watch, first { throw ValidationError("--watch and --first exclude each other.") }
        if host != nil, watch || first || !types.isEmpty || domain != nil {
            throw ValidationError(
                "--host asks at one address: --watch, --first, --type and --domain do not go with it."
            )
        }
    }

    /// Letters, digits and hyphens in labels of 1 to 63, 253 bytes in all; other characters as punycode.
    private static func isDomain(_ text: String) -> Bool {
        let text = text.hasSuffix(".") ? String(text.dropLast()) : text
        return text.utf8.count <= 253
            && text.split(separator: ".", omittingEmptySubsequences: false).allSatisfy { label in
                (1...63).contains(label.utf8.count) && label.first != "-" && label.last != "-"
                    && label.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-" || $0 == "_") }
            }
    }

    func run() async throws {
        let output = options.output
        let paired = try PairedHostStore(directory: output.context.paths.data).load()
        if let host {
            let row = try await AddressedHost(place: host, paired: paired).row()
            output.list([row], columns: Self.columns([row], probe: true), id: \.id)
            if row.conflicting { output.say(TerminalText.line("Beware: \(row.probe?.reason ?? "")")) }
            return
        }
        // Tests have a tree of their own.
        output.tell(of: USBDevice.appleDevices(root: output.context.environment["PAIRTOOL_SYSFS"] ?? "/sys"))
        let types = types.isEmpty ? ServiceType.all : types
        let client = try discovery.client(context: output.context, domain: domain)
        if watch {
            try await DiscoveryWatch(output: output, paired: paired, probes: probe)
                .run(client: client, types: types, limit: timeout?.duration)
        } else {
            try await list(client: client, types: types, paired: paired, output: output)
        }
    }

    private func list(
        client: CompanionDiscoveryClient,
        types: [ServiceType],
        paired: PairedHosts,
        output: Output
    ) async throws {
        // Whoever asks for the first host and names a time wants to wait for it; otherwise the engine's word ends it.
        let waits = first && timeout != nil
        let look: @Sendable (CompanionDiscoveryClient) async throws -> DiscoverySurvey = { client in
            try await DiscoverySurvey.run(client: client, types: types, limit: timeout?.duration ?? .seconds(10)) {
                survey in
                if first, survey.hosts.contains(where: { !$0.endpoints.isEmpty }) { return true }
                return survey.isSettled && !waits
            }
        }
        var survey = try await look(client)
        if first, let host = survey.hosts.first(where: { !$0.endpoints.isEmpty }) { survey.hosts = [host] }
        if survey.engine == .daemon, try discovery.engine(context: output.context) == .auto, domain == nil, !first,
            let why = survey.incomplete.first
        {
            output.say("With the Avahi daemon, \(why). Looking again with the embedded engine.")
            survey.merge(try await look(try discovery.client(context: output.context, engine: .embedded)))
        }
        var rows = survey.hosts.map { DiscoveredRow($0, paired: paired) }
        guard !rows.isEmpty else {
            var error = Self.nothingFound(survey)
            error.details = try await LikelyCauses.find(interface: discovery.interface(context: output.context))
            throw error
        }
        if probe { await Probe.fill(&rows) }
        DiscoveredRow.markLookalikes(&rows, paired: paired)
        output.list(rows, columns: Self.columns(rows, probe: probe), id: \.id)
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
    }

    private static let moreRecords =
        "pairtool discover --engine embedded, or raise cache-entries-max in /etc/avahi/avahi-daemon.conf"

    private func explain(_ marks: Set<AdvertMark>, _ output: Output) {
        for mark in marks.sorted() { output.say("  \(mark.rawValue): \(mark.text)") }
    }

    static func columns(_ rows: [DiscoveredRow], probe: Bool) -> [TableColumn<DiscoveredRow>] {
        var columns: [TableColumn<DiscoveredRow>] = [
            TableColumn("NAME", shrinks: true) { $0.name },
            TableColumn("FAMILY") { $0.family.displayName },
            TableColumn("PAIRED") { $0.conflicting ? "conflict" : $0.paired ? "yes" : "no" },
            TableColumn("TRUST") { $0.trust?.rawValue ?? "–" },
            TableColumn("ID") { String($0.id.prefix(8)) },
        ]
        if rows.contains(where: { !$0.marks.isEmpty }) { columns.append(TableColumn("MARKS") { $0.markText }) }
        if probe { columns.append(TableColumn("HEALTH") { $0.probe?.text ?? "–" }) }
        columns.append(TableColumn("ADDRESSES", shrinks: true) { $0.addressText })
        return columns
    }

    private static func nothingFound(_ survey: DiscoverySurvey) -> CommandError {
        guard survey.isSettled else {
            return CommandError(
                .timedOut,
                "discovery.timed_out",
                "no host was found in time" + (survey.problem.map { ": \($0)" } ?? ""),
                next: "pairtool discover --timeout 30"
            )
        }
        return CommandError(
            .nothingFound,
            "discovery.none",
            """
            no host was found (\(survey.engine.rawValue) mDNS engine). Deployed CopilotForge Macs do not advertise \
            themselves: those are named by address
            """,
            next: "pairtool pair --url http://ADDRESS:7878, or try the other engine: pairtool discover --engine "
                + (survey.engine == .daemon ? "embedded" : "daemon")
        )
    }
}
