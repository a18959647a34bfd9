import CompanionWire
import FoundationEssentials

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
