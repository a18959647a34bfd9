import CompanionClient
package import CompanionWire
package import Identity
import LocalState
import PairingAgent

extension HostSelector {
    /// The paired host for a command that only one family has: the named host, else the default host, else the only one
    /// of the family. With only one such host, `--host` is not needed.
    ///
    /// - Parameter matter: The subject of the command, such as `approvals`.
    /// - Throws: ``AppError``, with the code `host.cannot` for a host of another family.
    package func paired(_ family: HostFamily, for matter: String, in environment: AppEnvironment) throws -> PairedHost {
        let hosts = try PairedHostStore(directory: environment.paths.data).load()
        let word = name ?? environment.hostVariable
        let selected = try PairedHostSelection.select(word, of: family, for: matter, in: hosts)
        try required?.check(selected)
        return selected
    }
}

extension PairedHostSelection {
    /// See ``HostSelector/paired(_:for:_:)``.
    ///
    /// - Parameter word: A name, id prefix or address; nil if the user named no host.
    static func select(
        _ word: String?,
        of family: HostFamily,
        for matter: String,
        in hosts: PairedHosts
    ) throws -> PairedHost {
        let relatives = hosts.hosts.filter { $0.family == family }
        let host =
            if let word {
                try named(word, among: relatives, in: hosts)
            } else {
                try unnamed(family, among: relatives, in: hosts)
            }
        guard host.family == family else {
            throw AppError(
                .failed,
                "host.cannot",
                "\(Self.works(matter)) only with \(family.displayName) hosts, "
                    + "not with \(host.family.displayName) hosts such as \(host.name)",
                next: relatives.first.map { "name one with --host: \($0.name)" }
                    ?? "pair with one: \(family.behavior.facts.pairCommand)"
            )
        }
        return host
    }

    private static func works(_ matter: String) -> String {
        "\(matter) \(matter.ends(with: "s") ? "work" : "works")"
    }

    private static func named(_ word: String, among relatives: [PairedHost], in hosts: PairedHosts) throws -> PairedHost
    {
        try requireName(word)
        guard let place = HostAddress(word), !hosts.hosts.contains(where: { $0.name == word }) else {
            return try select(word, in: hosts)
        }
        // Hosts of most families cannot prove their identity, so pairtool uses them only at the address where they were
        // paired.
        let there = (relatives + hosts.hosts).first { $0.endpoint == place.endpoint($0.endpoint.port) }
        guard let there else { throw unknown(place) }
        return there
    }

    private static func unnamed(
        _ family: HostFamily,
        among relatives: [PairedHost],
        in hosts: PairedHosts
    ) throws -> PairedHost {
        if let usual = hosts.defaultHost, usual.family == family || relatives.isEmpty { return usual }
        guard let only = relatives.first else {
            throw AppError(
                .notPaired,
                "host.none_paired",
                "no \(family.displayName) host is paired yet",
                next: family.behavior.facts.pairCommand
            )
        }
        guard relatives.count == 1 else {
            throw ambiguous(
                relatives,
                why: "several \(family.displayName) hosts are paired, and none of them is the default"
            )
        }
        return only
    }
}
