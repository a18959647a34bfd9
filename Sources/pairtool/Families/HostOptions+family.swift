import CompanionClient
import CompanionWire
import PairingAgent

extension HostOptions {
    /// The paired host that a command of one family means: the one that is named, else the default host, else the only one
    /// of that family: commands that one family has need no `--host` then.
    ///
    /// - Parameter matter: What the command is about, such as `approvals`.
    /// - Throws: ``CommandError``, with the code `host.cannot` for a host of another family.
    func paired(_ family: HostFamily, for matter: String, _ context: CommandContext) throws -> PairedHost {
        let hosts = try PairedHostStore(directory: context.paths.data).load()
        let word = host ?? context.environment["PAIRTOOL_HOST"]
        let selected = try PairedHostSelection.select(word, of: family, for: matter, in: hosts)
        try require?.check(selected)
        return selected
    }
}

extension PairedHostSelection {
    /// See ``HostOptions/paired(_:for:_:)``.
    ///
    /// - Parameter word: A name, id prefix or address; nil or empty means that none is named.
    static func select(
        _ word: String?,
        of family: HostFamily,
        for matter: String,
        in hosts: PairedHosts
    ) throws -> PairedHost {
        let relatives = hosts.hosts.filter { $0.family == family }
        let host: PairedHost
        if let word, let place = HostPlace(word), !hosts.hosts.contains(where: { $0.name == word }) {
            // Hosts of most families prove nothing: none is spoken to elsewhere than where it was paired.
            guard let there = relatives.first(where: { $0.endpoint == place.endpoint($0.endpoint.port) }) else {
                throw unknown(place)
            }
            host = there
        } else if word ?? "" == "", hosts.defaultHost?.family != family, let only = relatives.first {
            guard relatives.count == 1 else { throw ambiguous(relatives) }
            host = only
        } else {
            host = try select(word, in: hosts)
        }
        guard host.family == family else {
            throw CommandError(
                .failed,
                "host.cannot",
                "\(host.name) is a \(host.family.displayName) host; \(matter) are a matter of \(family.displayName) hosts",
                next: relatives.first.map { "name one with --host: \($0.name)" } ?? "pair with one: pairtool pair"
            )
        }
        return host
    }
}
