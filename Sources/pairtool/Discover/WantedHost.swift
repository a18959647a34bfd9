import ArgumentParser
import CompanionApp
import CompanionWire
import Discovery
import Identity
import PairingAgent
import Terminal

/// The value of `discover --host`: an address or a host's name.
enum WantedHost: Sendable, Hashable {
    case place(HostAddress)
    case name(String)

    /// - Throws: `ValidationError` for a text that is neither.
    init(commandLine text: String) throws {
        if let place = HostAddress(text) {
            self = .place(place)
            return
        }
        guard !text.trimmingWhitespace().isEmpty, !text.unicodeScalars.contains("/") else {
            throw ValidationError("“\(TerminalText.line(text))” is neither an address nor the name of a host.")
        }
        self = .name(text.trimmingWhitespace())
    }

    /// Asks the host, or those whose names begin with the word.
    ///
    /// - Parameter limit: Default: 10 seconds for a name, none for an address.
    func rows(besides paired: PairedHosts, in environment: AppEnvironment, limit: Duration?) async throws
        -> [SightedHost]
    {
        switch self {
        case .place(let place):
            let asked = AddressedHost(place: place, paired: paired)
            guard let rows = try await withTimeLimit(limit, { try await asked.rows() }) else {
                throw AppError(.timedOut, "host.timed_out", "\(place.address) did not answer in time")
            }
            return rows
        case .name(let name):
            let client = try environment.discoveryClient()
            return try await NamedHost(name: name, paired: paired).rows(client: client, limit: limit ?? .seconds(10))
        }
    }
}

extension Output {
    /// Warns of hosts that contradict their records, and suggests commands for those that answered.
    func explain(asked rows: [SightedHost]) {
        for row in rows where row.conflicting { say(TerminalText.line("Beware: \(row.probe?.reason ?? "")")) }
        guard format == .text else { return }
        for row in rows where row.probe?.state == .up {
            let family = row.family
            if row.paired {
                say(TerminalText.line("Next: \(family.behavior.facts.firstCommand) --host \(row.id.shortID)"))
            } else if let endpoint = row.localEndpoints.first {
                let scheme = row.secureEndpoints.contains(endpoint) ? "https" : "http"
                say(TerminalText.line("Next: \(family.pairCommand(at: "\(scheme)://\(endpoint)"))"))
            }
        }
    }
}
