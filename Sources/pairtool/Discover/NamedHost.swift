import ArgumentParser
import CompanionWire
import Discovery
import PairingAgent

/// The value of `discover --host`: an address, or what a host is called.
enum WantedHost: Sendable, Hashable {
    case place(HostPlace)
    case name(String)

    /// - Throws: `ValidationError` for a text that is neither.
    init(commandLine text: String) throws {
        if let place = HostPlace(text) {
            self = .place(place)
            return
        }
        guard !text.trimmingBlanks().isEmpty, !text.unicodeScalars.contains("/") else {
            throw ValidationError("“\(TerminalText.line(text))” is neither an address nor the name of a host.")
        }
        self = .name(text.trimmingBlanks())
    }
}

/// Asks the hosts of a name how they are, whatever their families.
struct NamedHost: Sendable {
    let name: String
    let paired: PairedHosts

    /// The rows of the hosts that are called so, else of those whose names begin so: the advertised ones, and the recorded
    /// ones that nobody advertises.
    ///
    /// - Throws: ``CommandError`` where there is none; as the mDNS engine does, unless a recorded one is called so.
    func rows(client: CompanionDiscoveryClient, limit: Duration) async throws -> [DiscoveredRow] {
        let hosts = try await advertised(client, limit)
        var rows = hosts.map { DiscoveredRow($0, paired: paired) }
        let inSight = Set(rows.map(\.id))
        rows += paired.hosts.filter { !inSight.contains($0.id) }.map(row)
        let word = name.lowercased()
        var found = rows.filter { $0.name.lowercased() == word || word.utf8.count >= 4 && $0.id.begins(with: word) }
        if found.isEmpty {
            found = rows.filter { $0.name.lowercased().unicodeScalars.starts(with: word.unicodeScalars) }
        }
        guard !found.isEmpty else {
            let others = rows.map(\.name)
            throw CommandError(
                .nothingFound,
                "host.unknown",
                "no host called “\(name)” is in sight or recorded"
                    + (others.isEmpty ? "" : "; there are: \(others.joined(separator: ", "))"),
                next: "name its address: pairtool discover --host ADDRESS"
            )
        }
        await Probe.fill(&found)
        return found
    }

    private func advertised(_ client: CompanionDiscoveryClient, _ limit: Duration) async throws -> [DiscoveredHost] {
        do {
            return try await DiscoverySnapshot.run(client: client, types: ServiceType.all, limit: limit) {
                $0.isSettled
            }
            .hosts
        } catch let error as DiscoveryError {
            // What is recorded is asked where mDNS cannot be had, too.
            guard paired.hosts.contains(where: { $0.name.lowercased() == name.lowercased() }) else { throw error }
            return []
        }
    }

    /// A recorded host, where its record says that it is.
    private func row(_ host: PairedHost) -> DiscoveredRow {
        return DiscoveredRow(
            DiscoveredHost(
                id: host.id,
                name: host.name,
                instanceName: "",
                family: host.family,
                types: [],
                endpoints: [
                    DiscoveredEndpoint(
                        endpoint: host.endpoint,
                        interface: "",
                        type: host.trust == .verified ? .companionShort : host.family.usualType,
                        hostName: ""
                    )
                ]
            ),
            paired: paired
        )
    }
}

extension HostFamily {
    /// The service type that hosts of the family have, or would have: daemons of Jarvis advertise nothing, and speak HTTP.
    var usualType: ServiceType {
        ServiceType.all.first { $0.family == self } ?? ServiceType("_http._tcp") ?? .companion
    }
}
