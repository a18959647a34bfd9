import ArgumentParser
import CompanionApp
import CompanionClient
import CompanionWire
import Desktop
import Discovery
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
            network can send an advertisement: --probe asks the hosts themselves. Also reports the hosts of the \
            Tailscale network that this machine is in, and Apple devices on its USB bus.

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
        if let domain, !domain.isDNSName {
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

    func run() async throws {
        let output = options.output
        let environment = output.environment(discovery.choice)
        let types = types.isEmpty ? ServiceType.all : types
        guard host != nil || watch else {
            let listing = HostListing(
                types: types,
                first: first,
                timeout: timeout?.duration,
                domain: domain,
                choice: discovery.choice
            )
            return try await listing.run(output, probe: probe ? Probe.fill : nil)
        }
        let paired = try PairedHostStore(directory: environment.paths.data).load()
        if let host {
            let rows = try await host.rows(besides: paired, in: environment, limit: timeout?.duration)
            output.list(rows, columns: SightedHost.columns(rows, probe: true), id: \.id)
            output.explain(asked: rows)
        } else {
            output.tell(of: USBDevice.appleDevices(root: output.context.environment["PAIRTOOL_SYSFS"] ?? "/sys"))
            let client = try environment.discoveryClient(domain: domain)
            try await DiscoveryWatch(output: output, paired: paired, probes: probe)
                .run(client: client, types: types, limit: timeout?.duration)
        }
    }
}
