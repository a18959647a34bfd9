import CompanionWire
package import Identity
package import PairingAgent

/// Selects a paired host.
package enum PairedHostSelection {
    /// - Parameter word: A name or id prefix; nil means the default host.
    /// - Throws: ``AppError``, also for an empty name, as in `--host "$UNSET"`.
    package static func select(_ word: String?, in hosts: PairedHosts) throws -> PairedHost {
        guard !hosts.hosts.isEmpty else {
            throw AppError(.notPaired, "host.none_paired", "no host is paired yet", next: "pairtool pair")
        }
        guard let word else {
            if let host = hosts.defaultHost { return host }
            throw ambiguous(hosts.hosts, why: "several hosts are paired, and none is the default")
        }
        try requireName(word)
        let found = hosts.matching(word)
        if let host = found.first, found.count == 1 { return host }
        guard found.isEmpty else {
            throw AppError(
                .usage,
                "host.ambiguous",
                "“\(word)” matches several: \(names(found))",
                next: "give more of the id: pairtool hosts"
            )
        }
        let isShort = word.count < 4 && hosts.hosts.contains { $0.id.begins(with: word) }
        throw AppError(
            .notPaired,
            "host.unknown",
            "no paired host is called “\(word)”"
                + (NearestWord.of(word, in: hosts.hosts.map(\.name)).map { "; did you mean “\($0)”?" }
                    ?? "; the paired hosts are: \(names(hosts.hosts))"),
            next: isShort
                ? "give at least four characters of the id"
                : "see the paired hosts: pairtool hosts, or pair: pairtool pair"
        )
    }

    /// Selects a host without asking any.
    ///
    /// - Returns: nil if none was last reached at the address that was named.
    package static func selectKnown(_ word: String?, in hosts: PairedHosts) throws -> PairedHost? {
        if let word, let place = HostAddress(word), !hosts.hosts.contains(where: { $0.name.isSame(as: word) }) {
            return hosts.hosts.first { $0.endpoint == place.endpoint($0.endpoint.port) }
        }
        return try select(word, in: hosts)
    }

    package static func requireName(_ word: String) throws {
        guard word.isEmpty else { return }
        throw AppError(
            .usage,
            "usage",
            "the name of the host is empty",
            next: "see the paired hosts: pairtool hosts"
        )
    }

    package static func unknown(_ place: HostAddress) -> AppError {
        AppError(
            .notPaired,
            "host.unknown",
            "no paired host is at \(place.address)\(place.port.map { ", port \($0)" } ?? "")",
            next: "see the paired hosts: pairtool hosts, or pair: pairtool pair"
        )
    }

    package static func ambiguous(_ hosts: [PairedHost], why: String) -> AppError {
        AppError(
            .usage,
            "host.ambiguous",
            "\(why): \(names(hosts))",
            next: "name one with --host, or: pairtool hosts default NAME"
        )
    }

    private static func names(_ hosts: [PairedHost]) -> String {
        hosts.map { "\($0.name) (\($0.id.shortID))" }.joined(separator: ", ")
    }
}
