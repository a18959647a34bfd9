import ArgumentParser
import CompanionApp
import CompanionWire
import Identity
import LocalState
import PairingAgent
import Terminal

struct HostsRoutesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "routes",
        abstract: "Show or change the ways to a host from other networks.",
        discussion: """
            A host is reached directly where that works. Its routes are tried from 0.3 seconds later on, one after the \
            other; the first on which it proves its key is used. A route is a name or an address (https://NAME:PORT), \
            a machine that you can log in to (ssh://MACHINE) or a relay (relay://RELAY/?id=…&host=…).

            Examples:
              pairtool hosts routes
              pairtool hosts routes add Studio ssh://box
              pairtool hosts routes order Studio ssh://box https://studio.example:7879
            """,
        subcommands: [
            HostsRoutesListCommand.self, HostsRoutesAddCommand.self, HostsRoutesRemoveCommand.self,
            HostsRoutesOrderCommand.self,
        ],
        defaultSubcommand: HostsRoutesListCommand.self
    )
}

struct HostsRoutesListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the ways to a host, in the order in which they are tried.",
        discussion: """
            Examples:
              pairtool hosts routes list
              pairtool hosts routes list Studio --json
            """
    )

    @Argument(
        help: "The host, by name or id prefix. Default: the default host.",
        completion: .custom { _, _, _ in Completions.hosts() }
    )
    var host: String?
    @OptionGroup var options: OutputOptions

    func run() async throws {
        let output = options.output
        let hosts = try PairedHostStore(directory: output.context.paths.data).load()
        output.showRoutes(of: try PairedHostSelection.select(host, in: hosts))
    }
}

struct HostsRoutesAddCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "add",
        abstract: "Add a way to a host.",
        discussion: """
            Examples:
              pairtool hosts routes add Studio https://studio.example:7879
              pairtool hosts routes add Studio ssh://user@box:2222/7879
            """
    )

    @Argument(help: "The host, by name or id prefix.", completion: .custom { _, _, _ in Completions.hosts() })
    var host: String
    @Argument(help: "The route: https://NAME[:PORT], ssh://[USER@]MACHINE[:PORT][/PORT-OF-HOST] or relay://….")
    var route: String
    @OptionGroup var options: OutputOptions

    func run() async throws {
        guard let route = HostRoute(route) else {
            throw ValidationError(
                "“\(TerminalText.line(route))” is not a route. Give https://NAME[:PORT], "
                    + "ssh://[USER@]MACHINE[:PORT][/PORT-OF-HOST], or relay://RELAY/?id=…&host=…."
            )
        }
        try options.output.changeRoutes(of: host) { try $0.add(route) }
    }
}

struct HostsRoutesRemoveCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove",
        abstract: "Remove a way to a host.",
        discussion: """
            Examples:
              pairtool hosts routes remove Studio ssh://box
              pairtool hosts routes remove 5f1c https://studio.example:7879
            """
    )

    @Argument(help: "The host, by name or id prefix.", completion: .custom { _, _, _ in Completions.hosts() })
    var host: String
    @Argument(help: "The route, as `pairtool hosts routes` shows it.")
    var route: String
    @OptionGroup var options: OutputOptions

    func run() async throws {
        try options.output.changeRoutes(of: host) { try $0.removeRoute(route) }
    }
}

struct HostsRoutesOrderCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "order",
        abstract: "Put some ways to a host before the others.",
        discussion: """
            Examples:
              pairtool hosts routes order Studio ssh://box
              pairtool hosts routes order Studio ssh://box https://studio.example:7879
            """
    )

    @Argument(help: "The host, by name or id prefix.", completion: .custom { _, _, _ in Completions.hosts() })
    var host: String
    @Argument(help: "The routes that come first, as `pairtool hosts routes` shows them.")
    var routes: [String]
    @OptionGroup var options: OutputOptions

    func run() async throws {
        try options.output.changeRoutes(of: host) { try $0.orderRoutes(routes) }
    }
}

/// A way to a host, in JSON.
private struct RouteRow: Encodable, Sendable {
    var rung: HostRoute.Rung
    var route: String
    /// Whether the host was last reached so.
    var isInUse: Bool
}

extension Output {
    /// Changes the routes of a host, and shows them.
    fileprivate func changeRoutes(of word: String, _ body: (inout PairedHost) throws -> Void) throws {
        let changed = try PairedHostStore(directory: context.paths.data).update { hosts in
            var host = try PairedHostSelection.select(word, in: hosts)
            try body(&host)
            hosts.record(host)
            return host
        }
        showRoutes(of: changed)
    }

    fileprivate func showRoutes(of host: PairedHost) {
        var rows: [RouteRow] = []
        if host.isFar != true {
            let scheme = host.trust == .verified ? "https" : "http"
            rows.append(
                RouteRow(
                    rung: host.via == nil ? host.rung : .direct,
                    route: "\(scheme)://\(host.endpoint)",
                    isInUse: host.via == nil
                )
            )
        }
        rows += (host.routes ?? []).map { RouteRow(rung: $0.rung, route: "\($0)", isInUse: $0 == host.via) }
        list(
            rows,
            columns: [
                TableColumn("", rank: 0) { $0.isInUse ? "*" : " " },
                TableColumn("VIA", rank: 0) { $0.rung.rawValue },
                TableColumn("ROUTE", shrinks: true, rank: 0) { $0.route },
            ],
            id: \.route
        )
    }
}
