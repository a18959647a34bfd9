import FoundationEssentials

extension AICLIClient {
    /// Asks whether a session can go on: `POST /api/sessions/continue`. Builds without that route are asked whether they
    /// list it.
    package func continueSession(
        _ id: String,
        in workingDirectory: String
    ) async throws -> AICLISessionTable.Verdict {
        let body: AICLIValue = ["sessionId": .string(id), "workingDirectory": .string(workingDirectory)]
        let answer = try await post("/api/sessions/continue", body)
        switch answer.status {
        // The page of an unknown route, which says nothing of the session.
        case 404 where answer.value == .null: return try await isListed(id) ? .continued : .unknown
        case 404: return .unknown
        // Of another directory: it is not this one's session.
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
            // It has no list either.
            return false
        }
    }

    /// A session that `streamStart` gave.
    struct StartedSession: Sendable, Hashable {
        var id: String
        /// False where the server gave one that it has had for the directory.
        var isNew: Bool
    }

    /// Begins a session in a directory: `streamStart`.
    ///
    /// - Throws: ``CompanionClientError``, such as ``CompanionClientError/Code/busy`` where there is no room for another.
    func startSession(in workingDirectory: String) async throws -> StartedSession {
        let data = AICLITurn.sessionStart(in: workingDirectory)
        let reply = try await call("streamStart", data)
        guard case .sessionStarted(let id, let isEarlyBuild)? = reply.map(AICLIEvent.init) else {
            throw CompanionClientError(.badAnswer, "The host gave no session.", delivery: .unknown)
        }
        return StartedSession(id: id, isNew: isEarlyBuild || data["sessionId"]?.string == id)
    }

    /// Ends a session: `streamClose`, and `DELETE /api/stream/:id` of builds that only pause it then.
    ///
    /// - Returns: Whether the server has it no more.
    package func endSession(_ id: String) async throws -> Bool {
        // Some builds do not reply, so the list is what counts.
        let data: AICLIValue = ["sessionId": .string(id), "clearChat": true, "reason": "user_requested"]
        _ = try await call("streamClose", data, patience: .seconds(3))
        guard try await isListed(id) else { return true }
        // The id goes into a path: nothing but what ids are made of.
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
