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
        CompanionClientError(.badAnswer, message: "\(endpoint) answered with JSON that was not expected.")
    }
}
