import CompanionApp
import CompanionWire
import FoundationEssentials
import PairingAgent
import Terminal

/// A worktree in JSON: the session of an agent that works there.
struct WorktreeRow: Encodable {
    var chatId: String
    var title: String
    var projectId: String
    var directory: String
    var isWorktree: Bool
    var branch: String?
    var startedAt: Date
    var baseCommit: String?
    var unsaved: Worktree.Unsaved?
    var problem: String?
    var mode: AgentMode?

    init(_ worktree: Worktree) {
        chatId = worktree.id
        title = worktree.title
        projectId = worktree.projectId
        directory = worktree.directory
        isWorktree = worktree.isWorktree
        branch = worktree.branch
        startedAt = worktree.startedAt
        baseCommit = worktree.baseCommit
        unsaved = worktree.unsaved
        problem = worktree.problem
        mode = worktree.mode
    }

    private var loss: String {
        guard isWorktree else { return "the project's own directory, which is never removed" }
        guard let unsaved else { return problem ?? "not known" }
        return unsaved.isEmpty ? "nothing" : unsaved.text
    }

    func facts(now: Date) -> FactList {
        let commit = baseCommit.map { "commit \($0.shortID)" } ?? "no commit"
        return [
            "chat": title.isEmpty ? chatId : "\(title) (\(chatId))",
            "works in": directory,
            "branch": branch ?? "the one that is checked out",
            "began": "\(TimeText.ago(startedAt, now: now)), at \(commit)",
            "unsaved": loss,
            "mode": mode?.name,
        ]
    }
}

extension Output {
    /// - Parameter place: The place of the sessions, such as `on Studio`, for the error if there are none.
    func list(_ worktrees: [Worktree], place: String) throws {
        guard !worktrees.isEmpty else {
            throw AppError.empty("No agent works in a git repository \(place)")
        }
        let now = context.now()
        let rows = worktrees.map(WorktreeRow.init)
        var columns: [TableColumn<WorktreeRow>] = [
            .id { $0.chatId },
            TableColumn("CHAT", shrinks: true, rank: 0) { $0.title },
            TableColumn("BRANCH", shrinks: true, rank: 1) { $0.branch ?? "–" },
            TableColumn("BEGAN", rank: 2) { TimeText.ago($0.startedAt, now: now) },
            TableColumn("DIRECTORY", shrinks: true, rank: 3) { $0.directory },
        ]
        columns += TableColumn.mode(rows) { $0.mode }
        list(rows, columns: columns, id: \.chatId)
    }

    func show(_ worktree: Worktree) {
        let row = WorktreeRow(worktree)
        result(row, id: row.chatId) { fitted(row.facts(now: context.now())) }
    }

    /// - Parameter worktree: As it was before it was removed.
    func showRemoved(_ worktree: Worktree) {
        let row = WorktreeRow(worktree)
        let unsaved = worktree.unsaved.flatMap { $0.isEmpty ? nil : $0 }
        result(row, id: row.chatId) {
            let lost = unsaved.map { " Lost: \($0.text)." } ?? ""
            // What stays is told in place of the branch.
            let removed = row.problem.map { "\(row.directory). \($0)" }
            let both = "\(row.directory) and the branch \(row.branch ?? "of the session")"
            return fitted(TerminalText.line("Removed \(removed ?? both).\(lost)"))
        }
    }
}

extension Worktree {
    /// The session that the user named: by its chat's id or title, or its branch.
    static func find(_ word: String, in worktrees: [Worktree], listing: String) throws -> Worktree {
        try NameMatch.find(
            word,
            in: worktrees,
            kind: "session",
            listing: listing,
            ids: { [$0.id] },
            names: { [$0.title, $0.branch ?? ""] }
        )
    }
}
