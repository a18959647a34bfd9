package import CompanionWire
import FoundationEssentials

extension AICLIClient {
    /// The generation of the server: `GET /`.
    ///
    /// - Throws: ``CompanionClientError/Code/notACompanion`` for another service.
    package func generation() async throws -> AICLIGeneration {
        guard let generation = AICLIGeneration(root: try await asked("/")) else { throw stranger() }
        return generation
    }

    /// `GET /health`, together with the generation from `GET /`.
    package func aicliHealth() async throws -> AICLIHealth {
        let generation = try await generation()
        guard let health = AICLIHealth(try await asked("/health"), generation: generation) else { throw stranger() }
        return health
    }

    /// A request that needs no token. A service that answers it differently is not of this family.
    private func asked(_ target: String) async throws -> JSONValue {
        do {
            return try await get(target, isAnonymous: true)
        } catch let error as CompanionClientError where [.notFound, .badAnswer].contains(error.code) {
            throw stranger(error.httpStatus)
        }
    }

    /// The folders in which the server works: `GET /api/projects`.
    package func projects() async throws -> [CompanionProject] {
        let answer = try await get("/api/projects")
        guard let projects = answer["projects"]?.array else { throw unexpected() }
        return projects.compactMap { project in
            guard let name = project["name"]?.text, let path = project["path"]?.text else { return nil }
            return CompanionProject(id: name, name: name, localPath: path, lastUpdatedAt: project["lastModified"]?.date)
        }
    }

    /// The ids of the server's sessions: `GET /api/sessions`.
    ///
    /// - Throws: ``CompanionClientError/Code/badAnswer`` for an answer without a list, which must not be read as "no
    ///   sessions".
    package func sessionIDs() async throws -> Set<String> {
        guard let sessions = try await get("/api/sessions")["sessions"]?.array else { throw unexpected() }
        return Set(sessions.compactMap { $0.string ?? $0.text("sessionId", "id") })
    }

    private func unexpected() -> CompanionClientError {
        CompanionClientError(.badAnswer, message: "\(endpoint) answered with unexpected JSON.")
    }
}

/// One request on its own WebSocket.
extension AICLIClient {
    private enum Event: Sendable {
        case frame(AICLIFrame)
        case closed(AICLIClosure)
        /// The server sent no greeting in time.
        case ungreeted
        /// No reply came in time.
        case timeOver
    }

    /// How long to wait for the server's greeting. Some builds never send one (aicli).
    private static let greeting = Duration.seconds(3)

    /// Opens a WebSocket and waits until the server accepts this device.
    ///
    /// - Throws: ``CompanionClientError/Code/notPaired`` if the server refuses the token.
    func call() async throws {
        _ = try await converse(nil, patience: .zero)
    }

    /// Sends one request and waits for its reply.
    ///
    /// - Parameter patience: How long to wait. Default: 30 s.
    /// - Returns: The reply; nil if none came.
    /// - Throws: ``CompanionClientError``, also for errors that the server reports.
    func call(
        _ type: String,
        data: JSONValue,
        patience: Duration = .seconds(30)
    ) async throws -> AICLIFrame? {
        try await converse(AICLIRequest(type, id: "\(type)-1", data: data), patience: patience)
    }

    private func converse(_ request: AICLIRequest?, patience: Duration) async throws -> AICLIFrame? {
        guard let socket = try await AICLISocket(client: self, longestSilence: .seconds(60)) else {
            throw CompanionClientError(
                .unreachable,
                message: "\(endpoint) did not open a WebSocket.",
                delivery: .notSent
            )
        }
        let (events, sink) = AsyncStream<Event>.makeStream()
        let (requests, outgoing) = AsyncStream<[UInt8]>.makeStream()
        defer { outgoing.finish() }
        return try await withThrowingDiscardingTaskGroup { group in
            defer { group.cancelAll() }
            group.addTask {
                do {
                    let end = try await socket.run(sending: requests, within: StreamBudget(configuration.limits)) {
                        sink.yield(.frame($0))
                    }
                    sink.yield(.closed(end))
                } catch {
                    // Once the reply is here, an error of the connection must not replace it.
                    guard !Task.isCancelled else { return }
                    throw error
                }
            }
            @Sendable func wait(_ time: Duration, then: Event) async {
                try? await ContinuousClock().sleep(for: time)
                sink.yield(then)
            }
            group.addTask { await wait(Self.greeting, then: .ungreeted) }
            var isSent = false
            for await event in events {
                switch event {
                case .closed(let closure):
                    if closure.isRefusal {
                        throw CompanionClientError(.notPaired, message: "\(endpoint) rejected the token.")
                    }
                    throw closure.error
                        ?? CompanionClientError(
                            .unreachable,
                            message: "The host closed the connection.",
                            delivery: .unknown
                        )
                // A stored frame may have the id of an earlier request.
                case .frame(let frame) where isSent && !frame.isQueued && frame.requestID == request?.requestID:
                    if case .failure(let error) = AICLIEvent(frame) { throw error.clientError }
                    return frame
                case .frame(let frame):
                    if AICLIEvent(frame) == .connected, request != nil { throw AICLIGeneration.http.refusal }
                    if isSent { continue }
                case .timeOver: return nil
                case .ungreeted: if isSent { continue }
                }
                guard let request else { return nil }
                isSent = true
                outgoing.yield(request.json(now: Date()))
                group.addTask { await wait(patience, then: .timeOver) }
            }
            throw CancellationError()
        }
    }
}

extension AICLIClient {
    /// Asks whether a session can be continued: `POST /api/sessions/continue`. On builds without that route, checks
    /// whether the server lists the session.
    package func continueSession(
        _ id: String,
        in workingDirectory: String
    ) async throws -> AICLISessionTable.Verdict {
        let body: JSONValue = ["sessionId": .string(id), "workingDirectory": .string(workingDirectory)]
        let answer = try await post("/api/sessions/continue", body: body)
        switch answer.status {
        // The page of an unknown route, which says nothing about the session.
        case 404 where answer.value == .null: return try await isListed(id) ? .continued : .unknown
        case 404: return .unknown
        // The session belongs to another directory.
        case 400 where answer.value["expected"] != nil: return .unknown
        default: break
        }
        let value = try checked(answer)
        guard value["success"]?.bool != false, value["sessionId"]?.string ?? id == id else { return .unknown }
        return .continued
    }

    private func isListed(_ id: String) async throws -> Bool {
        do {
            return try await sessionIDs().contains(id)
        } catch let error as CompanionClientError where error.code == .notFound {
            // This build has no list either.
            return false
        }
    }

    /// A session from `streamStart`.
    struct StartedSession: Sendable, Hashable {
        var id: String
        /// False if the server returned a session that it already had for the directory.
        var isNew: Bool
    }

    /// Begins a session in a directory: `streamStart`.
    ///
    /// - Throws: ``CompanionClientError``, such as ``CompanionClientError/Code/busy`` if the server has no room for
    ///   another session.
    func startSession(in workingDirectory: String) async throws -> StartedSession {
        let data = Self.sessionStart(in: workingDirectory)
        let reply = try await call("streamStart", data: data)
        guard case .sessionStarted(let id, let isEarlyBuild)? = reply.map(AICLIEvent.init) else {
            throw CompanionClientError(.badAnswer, message: "The host returned no session.", delivery: .unknown)
        }
        return StartedSession(id: id, isNew: isEarlyBuild || data["sessionId"]?.string == id)
    }

    static func newSessionID() -> String { UUID().uuidString.lowercased() }

    /// The data of a request that starts a session. The prompt is sent separately afterwards, but the field is
    /// required: builds of late July read `prompt`, later ones `initialPrompt`.
    static func sessionStart(in workingDirectory: String) -> JSONValue {
        let filler: JSONValue = "Conversation with pairtool"
        return [
            "sessionId": .string(newSessionID()), "initialPrompt": filler, "prompt": filler,
            "workingDirectory": .string(workingDirectory),
        ]
    }

    /// Ends a session: `streamClose`, then `DELETE /api/stream/:id` for builds that only pause the session on
    /// `streamClose`.
    ///
    /// - Returns: Whether the session no longer exists on the server.
    package func endSession(_ id: String) async throws -> Bool {
        // Some builds do not reply, so check the list.
        let data: JSONValue = ["sessionId": .string(id), "clearChat": true, "reason": "user_requested"]
        _ = try await call("streamClose", data: data, patience: .seconds(3))
        guard try await isListed(id) else { return true }
        // The id becomes part of a path, so only the characters of normal ids are allowed.
        guard id.utf8.allSatisfy(Self.isPlain) else { return false }
        let answer = try await delete("/api/stream/\(id)")
        guard answer.status != 401, answer.status != 403 else {
            _ = try checked(answer)
            return false
        }
        return try await !isListed(id)
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
            true
        default: false
        }
    }
}

extension AICLIClient {
    /// Checks the token with requests that need it: some builds list their projects without a token, but open no
    /// WebSocket.
    ///
    /// - Throws: ``CompanionClientError/Code/notPaired`` if the server refuses the token.
    package func checkToken() async throws {
        try await checkTokenByHTTP()
        // The newest builds check the token only over HTTP and accept any WebSocket.
        guard try await generation() == .webSocket else { return }
        _ = try await call()
    }

    /// Checks the token over HTTP only.
    func checkTokenByHTTP() async throws {
        do {
            _ = try await get("/api/projects")
        } catch let error as CompanionClientError where [.notFound, .server, .badRequest].contains(error.code) {
            // Without a projects folder, `/api/projects` fails, but `/api/status` still checks the token. Early builds
            // lack that route; their 404 says nothing about the token.
            do { _ = try await get("/api/status") } catch let error as CompanionClientError
                where error.code == .notFound
            {}
        }
        // Asks about a session that does not exist: any answer other than a refusal means that the token was accepted.
        let answer = try await post(
            "/api/sessions/continue",
            body: ["sessionId": .string(Self.newSessionID()), "workingDirectory": "/"]
        )
        if [401, 403].contains(answer.status) { _ = try checked(answer) }
    }
}
