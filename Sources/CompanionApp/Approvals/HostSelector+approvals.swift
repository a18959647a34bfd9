package import CompanionClient
package import CompanionWire
package import Identity
import LocalState
import PairingAgent

extension HostSelector {
    /// The hosts whose requests a command is about: the named one, else all that ask for approvals.
    package func approvalHosts(_ environment: AppEnvironment) throws -> [PairedHost] {
        if let word = name ?? environment.hostVariable {
            let hosts = try PairedHostStore(directory: environment.paths.data).load()
            // An address is looked up when the host is opened.
            guard HostAddress(word) == nil || hosts.hosts.contains(where: { $0.name == word }) else { return [] }
            return [try PairedHostSelection.select(word, in: hosts)]
        }
        do {
            return try pairedHosts(with: .approvals, for: "approvals", in: environment)
        } catch let error as AppError where ["host.cannot", "host.none_paired"].contains(error.code) {
            // Hosts that do not advertise themselves are paired by their address.
            let others = HostFamily.allCases.map(\.behavior.facts).filter { !$0.isAdvertised }.map(\.pairCommand)
            throw AppError(
                .notPaired,
                "host.none_paired",
                "no host that asks for approvals is paired yet",
                next: (["pairtool pair"] + others).joined(separator: ", or ")
            )
        }
    }

    /// The names of the hosts, of those that a list is about, whose questions are in no list.
    package func unlistedHosts(_ environment: AppEnvironment) -> [String] {
        guard let paired = try? PairedHostStore(directory: environment.paths.data).load() else { return [] }
        var hosts = paired.hosts
        if let word = name ?? environment.hostVariable {
            hosts = (try? PairedHostSelection.selectKnown(word, in: paired)).map { [$0] } ?? []
        }
        return hosts.filter { $0.family.behavior.facts.asksSenderOnly }.map(\.name)
    }

    /// Runs a body with the request that the user named, and with its host.
    ///
    /// - Parameter word: The id, or the first characters of it (at least four, in any case). Requests that wait come
    ///   before others.
    package func withApproval(
        _ word: String,
        configuration: CompanionClientConfiguration,
        in environment: AppEnvironment,
        _ body: (HostSession, Approval) async throws -> Void
    ) async throws {
        let hosts = try approvalHosts(environment)
        guard hosts.count > 1 else {
            let host = hosts.first.map { naming($0) } ?? self
            return try await host.withSession(environment, configuration: configuration) { session in
                let approvals = try session.approvals
                try await body(session, try await Approval.find(word, in: approvals, listing: Self.listing))
            }
        }
        var found: [(approval: Approval, host: PairedHost)] = []
        for (host, result) in try await ask(
            hosts,
            in: environment,
            limit: environment.hostLimit,
            { one, environment in
                try await one.withSession(environment, configuration: configuration) {
                    try await Approval.all(called: word, in: try $0.approvals)
                }
            }
        ) {
            switch result {
            case .success(let approvals): found += approvals.map { ($0, host) }
            // Its agent asks nothing over the network.
            case .failure(let error) where error.kind == .versionMismatch: break
            case .failure(let error): environment.interaction.warn(error.naming(host))
            }
        }
        let waiting = found.filter(\.approval.isPending)
        if !waiting.isEmpty { found = waiting }
        let named = found.map { (approval: $0.approval, remark: ", at \($0.host.name)") }
        let approval = try Approval.single(named, called: word, at: nil, listing: Self.listing)
        guard let host = found.first(where: { $0.approval == approval })?.host else { return }
        try await naming(host).withSession(environment, configuration: configuration) { try await body($0, approval) }
    }

    private static let listing = "pairtool approvals"
}

extension Approval {
    /// The request of one place that the user named.
    ///
    /// - Parameters:
    ///   - word: Its id, or the first characters of it (at least four, in any case). Requests that wait come before
    ///     others.
    ///   - listing: The command that lists them.
    package static func find(
        _ word: String,
        in approvals: any ApprovalDeciding,
        listing: String
    ) async throws -> Approval {
        let found = try await all(called: word, in: approvals).map { (approval: $0, remark: "") }
        return try single(found, called: word, at: approvals.place, listing: listing)
    }

    fileprivate static func all(called word: String, in approvals: any ApprovalDeciding) async throws -> [Approval] {
        let meant = UserWord(word.lowercased())
        let all = try await approvals.approvals(all: true).approvals
        let found = all.filter {
            let id = $0.id.lowercased()
            return meant.isID(id) || meant.begins(id: id)
        }
        let waiting = found.filter(\.isPending)
        if !waiting.isEmpty { return waiting }
        if !found.isEmpty { return found }
        // Only a whole id is asked for.
        guard word.utf8.count == 36 else { return [] }
        return try await approvals.approval(id: word).map { [$0.approval] } ?? []
    }

    /// - Parameter place: The place that was searched, for the error; nil for several hosts.
    fileprivate static func single(
        _ found: [(approval: Approval, remark: String)],
        called word: String,
        at place: String?,
        listing: String
    ) throws -> Approval {
        if let first = found.first, found.count == 1 { return first.approval }
        guard found.isEmpty else {
            throw AppError(
                .usage,
                "approval.ambiguous",
                "“\(word)” matches several: "
                    + found.prefix(5).map {
                        "\($0.approval.id) (\($0.approval.title.scalars(atMost: 60))\($0.remark))"
                    }
                    .joined(separator: ", "),
                next: "use more of the id: \(listing)"
            )
        }
        throw AppError(
            .nothingFound,
            "approval.unknown",
            place.map { "the host at \($0) has no request “\(word)”" } ?? "no host has a request “\(word)”",
            next: word.utf8.count < 4 ? "give at least four characters of the id" : listing
        )
    }
}
