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
        let target = "/companion/chats/\(try client.segment(chatID, "chat"))/changes"
        let limits = client.configuration.limits
        return try await client.json(
            .get(target + (query.isEmpty ? "" : "?" + query.joined(separator: "&"))),
            as: ChatChangesResponse.self,
            upTo: max(limits.message, limits.body)
        )
    }

    /// `GET /companion/sessions`.
    package func places() async throws -> [AgentPlace] {
        try await client.json(.get("/companion/sessions"), as: AgentPlacesResponse.self).sessions.elements
    }

    /// `GET /companion/sessions/:id`.
    package func place(ofChat id: String) async throws -> AgentPlace {
        let target = "/companion/sessions/\(try client.segment(id, "chat"))"
        return try await client.json(.get(target), as: AgentPlaceResponse.self).session
    }

    /// The command `session.remove`.
    package func removePlace(ofChat id: String, isForced: Bool) async throws -> AgentPlace {
        try await client.result(of: .sessionRemove(chatID: id, isForced: isForced), as: AgentPlaceResponse.self).session
    }
}
