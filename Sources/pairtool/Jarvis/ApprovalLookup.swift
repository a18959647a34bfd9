import CompanionClient
import CompanionWire

/// Finds the approval request that the user named.
struct ApprovalLookup {
    let client: JarvisClient

    /// Finds a waiting request by its id or the first characters of it (at least four, case-insensitive), or any
    /// request by its whole id.
    func find(_ word: String) async throws -> ApprovalRow {
        let waiting = try await client.pending().approvals
        let found = waiting.filter { $0.id.description == word || (word.count >= 4 && $0.id.begins(with: word)) }
        if let approval = found.first, found.count == 1 { return ApprovalRow(approval, at: client.base) }
        guard found.isEmpty else {
            throw CommandError(
                .usage,
                "approval.ambiguous",
                "“\(word)” matches several: "
                    + found.prefix(5).map { "\($0.id) (\($0.action.scalars(atMost: 60)))" }.joined(separator: ", "),
                next: "use more of the id: pairtool approvals"
            )
        }
        if let id = JarvisApprovalID(word) {
            for id in [id, id.uppercased] {
                if let state = try await client.state(of: id) { return ApprovalRow(state, at: client.base) }
            }
        }
        let isShort = word.count < 4 && waiting.contains { $0.id.begins(with: word) }
        throw CommandError(
            .nothingFound,
            "approval.unknown",
            "the daemon at \(client.base) has no waiting request “\(word)”",
            next: isShort ? "give at least four characters of the id" : "pairtool approvals"
        )
    }
}
