import CompanionWire
import FoundationEssentials

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
            throw CompanionClientError(.badAnswer, message: "The host gave no session.", delivery: .unknown)
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
