import FoundationEssentials

extension AICLIClient {
    /// Whether the server takes the token, asked where it looks at it: some builds let anybody list their projects, but
    /// not open a WebSocket.
    ///
    /// - Throws: ``CompanionClientError/Code/notPaired`` where it does not.
    package func checkToken() async throws {
        try await checkTokenByHTTP()
        // The newest builds have no more than HTTP, and greet anybody.
        guard try await generation() == .webSocket else { return }
        _ = try await call()
    }

    /// The same by HTTP alone.
    func checkTokenByHTTP() async throws {
        do {
            _ = try await get("/api/projects")
        } catch let error as CompanionClientError where [.notFound, .server, .badRequest].contains(error.code) {
            // A server without a projects folder still says of the token what there is to say. Early ones have no such
            // page, which says nothing of it.
            do { _ = try await get("/api/status") } catch let error as CompanionClientError
                where error.code == .notFound
            {}
        }
        // Of no session that there is: any answer but a refusal is one of somebody who was let in.
        let answer = try await post(
            "/api/sessions/continue",
            ["sessionId": .string(AICLITurn.newSessionID()), "workingDirectory": "/"]
        )
        if [401, 403].contains(answer.status) { _ = try checked(answer) }
    }
}
