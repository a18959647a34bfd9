package import CompanionWire

/// Reads from a host of protocol v2 which files its agents have changed, and where they work.
package struct HostChanges: ChangeReporting {
    private let client: CompanionAPIClient

    package init(client: CompanionAPIClient) {
        self.client = client
    }

    /// `GET /companion/chats/:id/changes`.
    package func changes(chatID: String, wantsDifference: Bool, file: String?) async throws -> ChatChangesResponse {
        var query = wantsDifference ? [] : ["stat=1"]
        if let file { query.append("file=\(percentEncoded(file))") }
        let target = "/companion/chats/\(try client.segment(chatID, of: "chat"))/changes"
        let limits = client.configuration.limits
        return try await client.json(
            .get(target + (query.isEmpty ? "" : "?" + query.joined(separator: "&"))),
            as: ChatChangesResponse.self,
            upTo: max(limits.message, limits.body)
        )
    }

    /// `GET /companion/sessions`.
    package func worktrees() async throws -> [Worktree] {
        try await client.json(.get("/companion/sessions"), as: WorktreesResponse.self).sessions.elements
    }

    /// `GET /companion/sessions/:id`.
    package func worktree(ofChat id: String) async throws -> Worktree {
        let target = "/companion/sessions/\(try client.segment(id, of: "chat"))"
        return try await client.json(.get(target), as: WorktreeResponse.self).session
    }

    /// The command `session.remove`.
    package func removeWorktree(ofChat id: String, isForced: Bool) async throws -> Worktree {
        try await client.result(of: .sessionRemove(chatID: id, isForced: isForced), as: WorktreeResponse.self).session
    }
}
