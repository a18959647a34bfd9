import ArgumentParser
import CompanionApp
import CompanionClient
import CompanionWire
import Desktop
import Discovery
import Doctor
import Identity
import LocalState
import PairingAgent
import Terminal

struct DiscoverCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "discover",
        abstract: "Find the hosts on your network.",
        discussion: """
            Browses all known service types and ends when every host that answered is resolved. Anyone on the \
            network can send an advertisement: --probe asks the hosts themselves. Also reports Apple devices on this \
            machine's USB bus.

            Examples:
              pairtool discover
              pairtool discover --probe
              pairtool discover --watch --json
            """
    )

    @Flag(help: "Keep watching, and print hosts that appear, change or leave.")
    var watch = false

    @Flag(help: "Stop at the first host that is resolved.")
    var first = false

    @Option(
        help: ArgumentHelp("Look for at most this long. Default: 10s; with --watch, no limit.", valueName: "time"),
        transform: TimeSpan.init(wait:)
    )
    var timeout: TimeSpan?

    @Option(
        name: .customLong("type"),
        help: "Browse this service type only, such as _lumiagent._tcp (repeatable).",
        transform: { text in
            guard let type = ServiceType(text) else {
                throw ValidationError("A service type looks like _lumiagent._tcp: letters, digits and hyphens.")
            }
            return type
        }
    )
    var types: [ServiceType] = []

    @Flag(
        help:
            "Ask each host whether it is up and what it is. With Lumi hosts, pairtool only connects and sends nothing."
    )
    var probe = false

    @Option(
        help: """
            Ask only this host, of any family: ADDRESS[:PORT] (without mDNS), or the beginning of its name. DNS names \
            are not looked up.
            """,
        transform: WantedHost.init(commandLine:)
    )
    var host: WantedHost?

    @Option(
        help:
            "Look in this DNS domain with wide-area DNS-SD (needs the Avahi daemon). Default: local."
    )
    var domain: String?

    @OptionGroup(title: "Discovery options") var discovery: DiscoveryOptions
    @OptionGroup var options: OutputOptions

    func validate() throws {
        if let domain, !Self.isDomain(domain) {
            throw ValidationError("“\(TerminalText.line(domain))” is not a DNS domain.")
        }
        if watch, first { throw ValidationError("--watch and --first cannot be used together.") }
        let isNarrowed = !types.isEmpty || domain != nil || discovery.choice != DiscoveryChoice()
        if case .name? = host, watch || first || !types.isEmpty || domain != nil {
            throw ValidationError("--host NAME cannot be used with --watch, --first, --type or --domain.")
        }
        if case .place? = host, watch || first || isNarrowed {
            throw ValidationError(
                "--host ADDRESS cannot be used with --watch, --first, --type, --domain, --engine or --interface."
            )
        }
    }

    /// Whether a text is a domain: labels of 1 to 63 letters, digits and hyphens, 253 bytes in all; other characters
    /// have to be punycode.
    private static func isDomain(_ text: String) -> Bool {
        let text = text.dropping(suffix: ".").map(String.init) ?? text
        return text.utf8.count <= 253
            && text.parts(".", omittingEmpty: false).allSatisfy { label in
                (1...63).contains(label.utf8.count) && !label.begins(with: "-") && !label.ends(with: "-")
                    && label.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-" || $0 == "_") }
            }
    }

    func run() async throws {
        let output = options.output
        if let host {
            let rows = try await rows(of: host, on: output)
            output.list(rows, columns: SightedHost.columns(rows, probe: true), id: \.id)
            for row in rows where row.conflicting {
                output.say(TerminalText.line("Beware: \(row.probe?.reason ?? "")"))
            }
            if output.format == .text { sayNext(rows, on: output) }
        } else if watch {
            output.tell(of: USBDevice.appleDevices(root: output.context.environment["PAIRTOOL_SYSFS"] ?? "/sys"))
            let client = try output.environment(discovery.choice).discoveryClient(domain: domain)
            try await DiscoveryWatch(output: output, paired: try paired(output), probes: probe)
                .run(client: client, types: types.isEmpty ? ServiceType.all : types, limit: timeout?.duration)
        } else {
            try await list(output)
        }
    }

    private func rows(of host: WantedHost, on output: Output) async throws -> [SightedHost] {
        let paired = try paired(output)
        switch host {
        case .place(let place):
            let asked = AddressedHost(place: place, paired: paired)
            guard let rows = try await withTimeLimit(timeout?.duration, { try await asked.rows() }) else {
                throw AppError(.timedOut, "host.timed_out", "\(place.address) did not answer in time")
            }
            return rows
        case .name(let name):
            return try await NamedHost(name: name, paired: paired).rows(
                client: try output.environment(discovery.choice).discoveryClient(),
                limit: timeout?.duration ?? .seconds(10)
            )
        }
    }

    /// Suggests commands for the hosts that were found.
    private func sayNext(_ rows: [SightedHost], on output: Output) {
        for row in rows where row.probe?.state == .up {
            let family = row.family
            guard !row.paired else {
                output.say(TerminalText.line("Next: \(family.behavior.facts.firstCommand) --host \(row.id.shortID)"))
                continue
            }
            guard let endpoint = row.localEndpoints.first else { continue }
            let scheme = row.secureEndpoints.contains(endpoint) ? "https" : "http"
            output.say(TerminalText.line("Next: \(family.pairCommand(at: "\(scheme)://\(endpoint)"))"))
        }
    }

    private func paired(_ output: Output) throws -> PairedHosts {
        try PairedHostStore(directory: output.context.paths.data).load()
    }

    private func list(_ output: Output) async throws {
        let listing = HostListing(
            types: types,
            first: first,
            timeout: timeout?.duration,
            domain: domain,
            choice: discovery.choice
        )
        let ask: (@Sendable (inout [SightedHost]) async -> Void)? =
            if probe { Probe.fill } else { nil }
        guard var error = try await listing.run(output, probe: ask) else { return }
        let interface = output.environment(discovery.choice).discoveryInterface
        if let cause = try await LikelyCauses.find(interface: interface) { error.details = [cause] }
        throw error
    }
}
