package import FoundationEssentials

/// A file that is not as it was when a chat's session began.
package struct ChangedFile: Codable, Sendable, Hashable {
    /// The kind of a change.
    package enum Status: String, Codable, Sendable, Hashable {
        case added, modified, deleted, renamed
        /// It is another kind of thing: a link in place of a file, for one.
        case retyped
        /// One that this version does not know.
        case other

        package init(from decoder: any Decoder) throws {
            self = Self(rawValue: try decoder.singleValueContainer().decode(String.self)) ?? .other
        }
    }

    /// Relative to `directory` of the answer. A name that is not plain UTF-8 text is in quotes, with escapes, as git
    /// writes it.
    package var path: String
    /// The path before a renaming, written as ``path`` is; nil for files that were not renamed.
    package var oldPath: String?
    /// How the file changed.
    package var status: Status
    /// The number of lines that were added; nil for a file that is not text.
    package var added: Int?
    /// The number of lines that were removed; nil for a file that is not text.
    package var removed: Int?
    /// Whether the file is not text, so that its lines are not counted.
    package var isBinary: Bool
    /// Whether git does not track it now.
    package var isUntracked: Bool
    /// Whether it is another repository; its files are not compared.
    package var isSubmodule: Bool?
    /// The size in bytes of a file that was too large to be compared; nil for other files.
    package var leftOut: Int?

    package init(
        path: String,
        oldPath: String? = nil,
        status: Status,
        added: Int? = nil,
        removed: Int? = nil,
        isBinary: Bool = false,
        isUntracked: Bool = false,
        isSubmodule: Bool? = nil,
        leftOut: Int? = nil
    ) {
        self.path = path
        self.oldPath = oldPath
        self.status = status
        self.added = added
        self.removed = removed
        self.isBinary = isBinary
        self.isUntracked = isUntracked
        self.isSubmodule = isSubmodule
        self.leftOut = leftOut
    }
}

/// The answer of `GET /companion/chats/:id/changes`: all that is different since the chat's session began.
package struct ChatChangesResponse: Codable, Sendable, Hashable {
    package var ok: Bool
    package var chatId: String
    /// When the session began.
    package var startedAt: Date
    /// The commit that was checked out then; nil where there was none.
    package var baseCommit: String?
    /// The commit that is checked out now.
    package var commit: String?
    /// The branch that is checked out now; nil for a detached `HEAD`.
    package var branch: String?
    /// The path of the agent's working directory on the host.
    package var directory: String
    /// The changed files, with paths relative to ``directory``.
    package var files: LossyArray<ChangedFile>
    /// The difference as git shows it, without what was left out; nil where only the files were asked for.
    package var diff: String?
    /// Whether the difference was too long and has no end, or files were left out of the list.
    package var truncated: Bool
    /// When the session began, where the files could not be read before `startedAt`: what was changed between is not
    /// known.
    package var firstTriedAt: Date?
    /// The number of files that have changed as well and are not listed: git ignores them, and would not by the
    /// `.gitignore` files of ``baseCommit`` alone.
    package var hidden: Int?
    /// The first hundred of them; nil for none.
    package var hiddenFiles: [String]?
    /// Files that were there when the session began, are gone, and are not listed as deleted: the repository's index
    /// says that they are not checked out (sparse checkout). nil for none.
    package var notCheckedOut: Int?
    /// The mode of the chat's agent; nil where that is not known.
    package var mode: AgentMode?

    package init(
        chatId: String,
        startedAt: Date,
        baseCommit: String?,
        commit: String?,
        branch: String?,
        directory: String,
        files: [ChangedFile],
        diff: String?,
        truncated: Bool
    ) {
        ok = true
        self.chatId = chatId
        self.startedAt = startedAt
        self.baseCommit = baseCommit
        self.commit = commit
        self.branch = branch
        self.directory = directory
        self.files = LossyArray(files)
        self.diff = diff
        self.truncated = truncated
    }
}

/// The directory in a project under git where a chat's agent works: a working tree of its own, or the project's.
package struct Worktree: Codable, Sendable, Hashable, Identifiable {
    /// The work that would be lost if a working tree were removed.
    package struct Unsaved: Codable, Sendable, Hashable {
        /// Files that are in no commit as they are.
        package var files: Int
        /// Commits that no other reference leads to.
        package var commits: Int
        /// The names of other files that only git's directory for the working tree contains, such as `rebase-merge`;
        /// nil for none.
        package var unfinished: [String]?

        /// - Parameter unfinished: Becomes nil if it is empty. Default: empty.
        package init(files: Int, commits: Int, unfinished: [String] = []) {
            (self.files, self.commits) = (files, commits)
            self.unfinished = unfinished.isEmpty ? nil : unfinished
        }

        /// Whether nothing would be lost.
        package var isEmpty: Bool { files == 0 && commits == 0 && unfinished == nil }

        /// `1 file and 2 commits`, for people; what there is none of is left out.
        package var text: String {
            var parts: [String] = []
            if files > 0 { parts.append(files == 1 ? "1 file" : "\(files) files") }
            if commits > 0 { parts.append(commits == 1 ? "1 commit" : "\(commits) commits") }
            if let unfinished {
                let more = unfinished.count > 3 ? " and \(unfinished.count - 3) more" : ""
                parts.append("unfinished work of git (\(unfinished.prefix(3).joined(separator: ", "))\(more))")
            }
            return parts.joined(separator: parts.count > 2 ? ", " : " and ")
        }
    }

    /// The chat's id.
    package var id: String
    /// The chat's title.
    package var title: String
    /// The id of the project that the chat belongs to.
    package var projectId: String
    /// The path of the agent's working directory on the host.
    package var directory: String
    /// Whether the directory is a working tree that the host made for this chat.
    package var isWorktree: Bool
    /// The branch that the host made for it.
    package var branch: String?
    /// The time when the chat's session began.
    package var startedAt: Date
    /// The commit that was checked out then.
    package var baseCommit: String?
    /// The work that would be lost with the working tree; nil if the chat has no working tree of its own, or the host
    /// did not look.
    package var unsaved: Unsaved?
    /// The reason, for people, why the changes cannot be listed; nil if they can.
    package var problem: String?
    /// The mode of the chat's agent; nil where that is not known.
    package var mode: AgentMode?

    package init(
        id: String,
        title: String,
        projectId: String,
        directory: String,
        isWorktree: Bool,
        branch: String?,
        startedAt: Date,
        baseCommit: String?,
        problem: String? = nil
    ) {
        self.id = id
        self.title = title
        self.projectId = projectId
        self.directory = directory
        self.isWorktree = isWorktree
        self.branch = branch
        self.startedAt = startedAt
        self.baseCommit = baseCommit
        self.problem = problem
    }
}

/// The answer of `GET /companion/sessions`: the newest first.
package struct WorktreesResponse: Codable, Sendable, Hashable {
    package var ok: Bool
    package var sessions: LossyArray<Worktree>

    package init(sessions: [Worktree]) {
        ok = true
        self.sessions = LossyArray(sessions)
    }
}

/// The answer of `GET /companion/sessions/:id`, and the result of the command `session.remove`.
package struct WorktreeResponse: Codable, Sendable, Hashable {
    package var ok: Bool
    package var session: Worktree

    package init(session: Worktree) {
        ok = true
        self.session = session
    }
}
