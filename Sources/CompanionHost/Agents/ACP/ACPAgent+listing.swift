import CompanionWire
import FoundationEssentials
import Logging
import NIOConcurrencyHelpers

extension ACPAgent: AgentSessionSource {
    /// Sessions of a list that are read.
    static let mostListed = 5000
    /// Pages of a list.
    private static let mostPages = 200
    /// How long the agent may take for a page of its list.
    private static let listLimit = Duration.seconds(20)

    package var modelID: String { launch.id }
    package var sessionOwner: String { launch.sessionOwner }

    package var isRunning: Bool {
        processes.withLockedValue { $0.connections }.contains(where: \.hasStarted)
    }

    package func sessions(startingIn project: String) async throws -> [ListedSession]? {
        let connection = processes.withLockedValue { $0.takeAny() } ?? connection(forChat: "", in: project)
        defer { connection.release() }
        do {
            guard try await connection.ready().lists else { return nil }
            var listed = try await list(over: connection)
            // The host's own processes are no other program.
            let own = processes.withLockedValue { Set($0.connections.flatMap(\.sessionIDs)) }
            for index in listed.indices where own.contains(ByteText(listed[index].id)) { listed[index].isOpen = false }
            return listed
        } catch {
            // Nobody's prompt: what is wrong with the agent is told with the next one.
            throw describe(error)
        }
    }

    private func list(over connection: ACPConnection) async throws -> [ListedSession] {
        var sessions: [ListedSession] = []
        var seen: Set<ByteText> = []
        var cursor: String?
        for _ in 0..<Self.mostPages {
            let answer = try await connection.call(
                .listSessions(cursor: cursor),
                isVital: false,
                within: Self.listLimit
            )
            for value in answer["sessions"]?.array ?? [] {
                guard let session = ListedSession(value), seen.insert(ByteText(session.id)).inserted else { continue }
                sessions.append(session)
            }
            cursor = answer["nextCursor"]?.string
            guard cursor?.isEmpty == false, sessions.count < Self.mostListed, !Task.isCancelled else { break }
        }
        return Array(sessions.prefix(Self.mostListed))
    }

    package func open(_ session: AgentSessionRecord, project: String) async throws -> [ToldMessage]? {
        let connection = connection(forChat: session.chatID, in: project)
        defer { connection.release() }
        do {
            let info = try await connection.ready()
            guard info.loads else {
                connection.forget(chat: session.chatID)
                return nil
            }
            let replay = ACPReplay()
            _ = try await connection.call(
                .loadSession(session.sessionID, directory: session.directory),
                chat: session.chatID,
                replay: replay,
                within: limits.session
            )
            return replay.messages
        } catch {
            throw failure(error, over: connection)
        }
    }
}

extension ListedSession {
    /// Scalars of a title.
    private static let titleLength = 200
    /// Bytes of a directory.
    private static let mostBytes = 4096
    /// Words with which agents say in a session's `_meta` that a program has it open; the protocol has none.
    private static let openWords: Set<String> = ["active", "attached", "busy", "locked", "open", "running"]

    /// - Returns: nil for one that cannot be opened.
    init?(_ value: JSONValue) {
        guard let id = value["sessionId"]?.string, ACPCall.idSizes.contains(id.utf8.count),
            let directory = value["cwd"]?.string, directory.begins(with: "/"), directory.utf8.count <= Self.mostBytes
        else { return nil }
        self.id = id
        self.directory = directory
        title = (value["title"]?.string ?? "").oneLine(atMost: Self.titleLength)
        updatedAt = value["updatedAt"]?.string.flatMap { CompanionTimestamp.date(from: $0) }
        let meta = value["_meta"]?.object ?? [:]
        // Agents put their own members into one that is called after them.
        isOpen = Self.saysOpen(meta) || meta.values.contains { Self.saysOpen($0.object ?? [:]) }
    }

    private static func saysOpen(_ members: [String: JSONValue]) -> Bool {
        openWords.contains { word in
            let capital = "is" + word.prefix(1).uppercased() + word.dropFirst()
            return members[word]?.bool == true || members[capital]?.bool == true
                || members["status"]?.string?.isSame(as: word) == true
                || members["state"]?.string?.isSame(as: word) == true
        } || members["inUse"]?.bool == true
    }
}
