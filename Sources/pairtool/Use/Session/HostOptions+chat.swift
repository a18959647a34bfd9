import CompanionClient
import CompanionWire
import History
import Identity
import LocalState

/// A chat of a paired host, listed now or known from before.
private struct FoundChat: Sendable {
    var host: PairedHost
    var id: String
    var title: String

    /// Whether a word is its whole id or title.
    func isNamed(_ word: String) -> Bool {
        id.isSame(as: word) || title.lowercased().isSame(as: word.lowercased())
    }
}

extension HostOptions {
    /// The same options, naming the only paired host that has a chat. They stay as they are if the user has named a
    /// host, or if only one is paired.
    ///
    /// What this machine knows counts first: a chat whose whole title or id is known is looked for nowhere else. Else
    /// all hosts are asked at the same time.
    ///
    /// - Throws: ``CommandError`` that lists the chats if several hosts have one: a prompt goes to no host that the
    ///   word does not single out.
    func holding(chat word: String, _ options: OutputOptions) async throws -> HostOptions {
        let output = options.output
        guard host == nil, output.context.hostVariable == nil else { return self }
        let paired = try PairedHostStore(directory: output.context.paths.data).load()
        let hosts = paired.hosts.filter { $0.family.behavior.clients(of: $0).contains { $0 is any TurnRunning.Type } }
        guard hosts.count > 1 else { return self }
        let known = await Self.known(of: hosts, output)
        let sameID = known.filter { $0.id.isSame(as: word) }
        let same = sameID.isEmpty ? known.filter { $0.isNamed(word) } : sameID
        // Several chats of one host are that host's matter.
        if let first = same.first, same.allSatisfy({ $0.host.id == first.host.id }) {
            return naming(first.host, of: paired, output)
        }
        guard same.isEmpty else { return naming(try Self.match(word, in: same), of: paired, output) }
        let (chats, failures) = try await ask(hosts, known: known, options)
        // A host that did not answer may have the chat that has this very title.
        let candidates = failures.isEmpty ? chats : chats.filter { $0.isNamed(word) }
        let worst = failures.indices.max { failures[$0].status.rawValue < failures[$1].status.rawValue }
        let thrown = candidates.isEmpty ? worst : nil
        for index in failures.indices where index != thrown { output.warn(failures[index]) }
        if let thrown { throw failures[thrown] }
        return naming(try Self.match(word, in: candidates), of: paired, output)
    }

    private func naming(_ found: PairedHost, of paired: PairedHosts, _ output: Output) -> HostOptions {
        if found.id != paired.defaultID { output.say(TerminalText.line("The chat is on \(found.name).")) }
        return naming(found)
    }

    private static func match(_ word: String, in chats: [FoundChat]) throws -> PairedHost {
        do {
            return try NameMatch.find(
                word,
                in: chats,
                kind: "chat",
                listing: "pairtool chats --all-hosts",
                ids: { [$0.id] },
                names: { [$0.title] },
                place: { ", on \($0.host.name)" },
                nobody: "no paired host has a"
            ).host
        } catch var error as CommandError where error.status == .usage {
            error.next = "name the host with --host, or the chat by its id: pairtool chats --all-hosts"
            throw error
        }
    }

    private static func known(of hosts: [PairedHost], _ output: Output) async -> [FoundChat] {
        guard let history = LocalHistory.ofUser(output) else { return [] }
        let known =
            await history.use(create: false) { store throws(HistoryError) in try await store.knownChats() } ?? []
        await history.finish(at: output.context.now())
        let byID = Dictionary(hosts.map { ($0.id, $0) }) { $1 }
        return known.compactMap { chat in
            byID[chat.hostID].map { FoundChat(host: $0, id: chat.id, title: chat.title) }
        }
    }

    /// The chats of all hosts: as they list them, or as they are known if they do not answer; and why not all did.
    private func ask(
        _ hosts: [PairedHost],
        known: [FoundChat],
        _ options: OutputOptions
    ) async throws -> ([FoundChat], [CommandError]) {
        let results = try await ask(hosts, limit: AllHostsOptions.usualLimit) { one, _ in
            try await one.withSession(options) { session in
                try await session.chats(in: try await session.projects.mergedProjects()).map {
                    FoundChat(host: session.host, id: $0.chat.id, title: $0.chat.title)
                }
            }
        }
        var (found, failures) = ([FoundChat](), [CommandError]())
        for (host, result) in results {
            switch result {
            case .success(let chats): found += chats
            case .failure(let error):
                guard error.status != .nothingFound else { continue }
                failures.append(error.naming(host))
                found += known.filter { $0.host.id == host.id }
            }
        }
        return (found, failures)
    }
}
