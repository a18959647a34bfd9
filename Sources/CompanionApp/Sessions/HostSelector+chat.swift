import CompanionClient
import CompanionWire
import FoundationEssentials
import History
import Identity
import LocalState
import PairingAgent

/// A chat of a paired host, listed now or known from before.
private struct FoundChat: Sendable {
    var host: PairedHost
    var id: String
    var title: String

    /// Whether a word is its whole id, or as much of a UUID as lists show: other chats do not have that.
    func hasID(_ word: String) -> Bool {
        if id.isSame(as: word) { return true }
        return UUID(uuidString: id) != nil && word.utf8.count >= id.shortID.utf8.count
            && id.dropping(prefix: word, ignoringCase: true) != nil
    }

    /// Whether a word is its id or whole title.
    func isNamed(_ word: String) -> Bool {
        hasID(word) || title.lowercased().isSame(as: word.lowercased())
    }
}

extension HostSelector {
    /// The same, naming the only paired host that has a chat. They stay as they are if the user has named a
    /// host, or if only one is paired.
    ///
    /// A chat whose id is known on this machine is looked for nowhere else. If its whole title is known, pairtool asks
    /// only the other hosts whose chats have never been listed. Otherwise it asks all hosts at the same time.
    ///
    /// - Throws: ``AppError`` that lists the chats if several hosts have one, or that says which host did not
    ///   answer if it was never listed: a prompt goes to no host that the word does not single out.
    package func holding(chat word: String, in environment: AppEnvironment) async throws -> HostSelector {
        guard name == nil, environment.hostVariable == nil else { return self }
        let paired = try PairedHostStore(directory: environment.paths.data).load()
        let hosts = paired.hosts.filter { $0.offers(.prompts) }
        guard hosts.count > 1 else { return self }
        let known = await KnownChats(of: hosts, in: environment)
        let sameID = known.chats.filter { $0.hasID(word) }
        let same = sameID.isEmpty ? known.chats.filter { $0.isNamed(word) } : sameID
        var asked = hosts
        if let first = same.first {
            guard same.allSatisfy({ $0.host.id == first.host.id }) else {
                return naming(try Self.match(word, in: same), of: paired, in: environment)
            }
            asked = sameID.isEmpty ? hosts.filter { $0.id != first.host.id && !known.isListed($0) } : []
            // Several chats of one host are that host's matter.
            guard !asked.isEmpty else { return naming(first.host, of: paired, in: environment) }
        }
        let (chats, failures) = try await ask(asked, known: known, in: environment)
        var candidates = same + chats
        if failures.contains(where: { !known.isListed($0.host) }) {
            // It may have a chat of the same title.
            candidates.removeAll { !$0.hasID(word) }
        } else {
            // Another one may have had a chat since whose title begins like this.
            candidates.removeAll { chat in
                !chat.isNamed(word) && failures.contains { $0.host.id != chat.host.id }
            }
        }
        let fitting = UserWord(word).choose(among: candidates, ids: { [$0.id] }, names: { [$0.title] })
        if !failures.isEmpty, fitting.isEmpty { candidates = [] }
        var errors = failures.map(\.error)
        var thrown: AppError?
        if candidates.isEmpty, let worst = errors.firstIndex(where: { $0.kind == errors.map(\.kind).max() }) {
            thrown = errors.remove(at: worst)
            if !same.isEmpty || chats.contains(where: { $0.isNamed(word) }) {
                thrown?.next = "name the chat's host with --host: this one may have a chat of that title, too"
            }
        }
        for error in errors { environment.interaction.warn(error) }
        if let thrown { throw thrown }
        return naming(try Self.match(word, in: candidates), of: paired, in: environment)
    }

    private func naming(_ found: PairedHost, of paired: PairedHosts, in environment: AppEnvironment) -> HostSelector {
        if found.id != paired.defaultID {
            environment.interaction.say(TerminalText.line("The chat is on \(found.name)."))
        }
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
        } catch var error as AppError where error.kind == .usage {
            error.next = "name the host with --host, or the chat by its id: pairtool chats --all-hosts"
            throw error
        }
    }

    /// The chats of hosts: as they list them, or as they are known if they do not answer; and why not all did.
    private func ask(
        _ hosts: [PairedHost],
        known: KnownChats,
        in environment: AppEnvironment
    ) async throws -> ([FoundChat], [(host: PairedHost, error: AppError)]) {
        let results = try await ask(hosts, in: environment, limit: environment.hostLimit) { one, environment in
            try await one.withSession(environment) { session in
                try await session.chats(in: try await session.projects.mergedProjects()).map {
                    FoundChat(host: session.host, id: $0.chat.id, title: $0.chat.title)
                }
            }
        }
        var (found, failures) = ([FoundChat](), [(host: PairedHost, error: AppError)]())
        for (host, result) in results {
            switch result {
            case .success(let chats): found += chats
            case .failure(let error):
                guard error.kind != .nothingFound else { continue }
                failures.append((host, error.naming(host)))
                found += known.chats.filter { $0.host.id == host.id }
            }
        }
        return (found, failures)
    }
}

/// The chats of hosts that the history on this machine knows.
private struct KnownChats {
    var chats: [FoundChat] = []
    private var listed: Set<String> = []

    init(of hosts: [PairedHost], in environment: AppEnvironment) async {
        guard let history = LocalHistory.ofUser(environment) else { return }
        let known = await history.use(create: false) { store throws(HistoryError) in
            (chats: try await store.knownChats(), listed: try await store.listedHostIDs())
        }
        await history.finish(at: environment.now())
        guard let known else { return }
        let byID = Dictionary(hosts.map { ($0.id, $0) }) { $1 }
        chats = known.chats.compactMap { chat in
            byID[chat.hostID].map { FoundChat(host: $0, id: chat.id, title: chat.title) }
        }
        listed = known.listed
    }

    /// Whether all chats of a host have been listed, so that a title which is not among them is not the host's.
    func isListed(_ host: PairedHost) -> Bool { listed.contains(host.id) }
}
