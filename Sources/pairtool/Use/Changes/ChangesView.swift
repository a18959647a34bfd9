import CompanionApp
import CompanionWire
import Markdown
import PairingAgent
import Terminal

/// Shows what an agent has changed.
struct ChangesView {
    let output: Output
    let changes: ChatChangesResponse

    /// The object that `--json` prints.
    struct Row: Encodable {
        let changes: ChatChangesResponse

        private enum CodingKeys: String, CodingKey {
            case chatId, startedAt, baseCommit, commit, branch, directory, files, diff, truncated, mode
            case firstTriedAt, hidden, hiddenFiles, notCheckedOut
        }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(changes.chatId, forKey: .chatId)
            try container.encode(changes.startedAt, forKey: .startedAt)
            try container.encodeIfPresent(changes.baseCommit, forKey: .baseCommit)
            try container.encodeIfPresent(changes.commit, forKey: .commit)
            try container.encodeIfPresent(changes.branch, forKey: .branch)
            try container.encode(changes.directory, forKey: .directory)
            try container.encode(changes.files.elements, forKey: .files)
            try container.encodeIfPresent(changes.diff, forKey: .diff)
            try container.encode(changes.truncated, forKey: .truncated)
            try container.encodeIfPresent(changes.mode, forKey: .mode)
            try container.encodeIfPresent(changes.notCheckedOut, forKey: .notCheckedOut)
            try container.encodeIfPresent(changes.firstTriedAt, forKey: .firstTriedAt)
            try container.encodeIfPresent(changes.hidden, forKey: .hidden)
            try container.encodeIfPresent(changes.hiddenFiles, forKey: .hiddenFiles)
        }
    }

    /// - Parameter file: The file or directory that was asked for; nil for all.
    /// - Throws: ``AppError`` where nothing was changed: with exit code 3 where a file was named.
    func show(file: String?, avoidsPager: Bool) async throws {
        let files = changes.files.elements
        guard !files.isEmpty else {
            let rest = "since \(start)" + (notCheckedOut.map { ". " + $0 } ?? "") + (hidden.map { ". " + $0 } ?? "")
            guard let file else { throw AppError.empty("Nothing has changed \(rest)") }
            throw AppError(.nothingFound, "changes.none", "“\(file)” has not changed \(rest)")
        }
        switch output.format {
        case .json: output.json(Row(changes: changes))
        case .quiet: for file in files { output.data(TerminalText.line(file.path)) }
        case .text:
            _ = try await Pager.with(output, isWanted: !avoidsPager) { output, _ in
                let view = ChangesView(output: output, changes: changes)
                view.writeList()
                view.writeDifference()
            }
        }
    }

    /// The time since which changes are counted, as text for users.
    private var start: String {
        let now = output.context.now()
        let since = TimeText.ago(changes.startedAt, now: now)
        guard let first = changes.firstTriedAt else { return "the session began, \(since)" }
        return "\(since), when the files could first be read (the session began \(TimeText.ago(first, now: now)))"
    }

    /// A sentence about new or changed files that changed ignore files hide; nil if there are none.
    private var hidden: String? {
        guard let count = changes.hidden, count > 0 else { return nil }
        let files = count == 1 ? "1 new or changed file is" : "\(count) new or changed files are"
        var names = (changes.hiddenFiles ?? []).prefix(5).map { TerminalText.line($0) }
        if !names.isEmpty, names.count < count { names.append("and \(count - names.count) more") }
        return "\(files) hidden by ignore files (.gitignore) that differ from the session's first commit"
            + (names.isEmpty ? "" : ": " + names.joined(separator: ", "))
    }

    /// A sentence about files that are gone because git has been told to skip them since the session began (sparse
    /// checkout); nil if there are none.
    private var notCheckedOut: String? {
        guard let count = changes.notCheckedOut, count > 0 else { return nil }
        return count == 1
            ? "1 file is gone and not listed as deleted: git is told to skip it (sparse checkout)"
            : "\(count) files are gone and not listed as deleted: git is told to skip them (sparse checkout)"
    }

    private func writeList() {
        let files = changes.files.elements
        let base = changes.baseCommit.map { "commit \($0.shortID)" } ?? "no commit"
        let branch = changes.branch.map { ", now on \($0)" } ?? ""
        output.data(output.fitted(output.faint("Since \(start), at \(base)\(branch)"), indent: 2))
        if let mode = changes.mode {
            output.data(output.fitted(output.faint(mode.text), indent: 2))
        }
        output.list(
            files,
            columns: [
                TableColumn("CHANGE", rank: 0) { $0.word },
                TableColumn("FILE", shrinks: true, rank: 0) { file in
                    file.oldPath.map { "\($0) → \(file.path)" } ?? file.path
                },
                TableColumn("LINES", rank: 0) { $0.amount },
            ],
            id: \.path
        )
        // The host may say any numbers.
        func total(_ counts: [Int]) -> Int {
            counts.reduce(0) {
                let (sum, isTooLarge) = $0.addingReportingOverflow(max($1, 0))
                return isTooLarge ? .max : sum
            }
        }
        let added = total(files.map { $0.added ?? 0 })
        let removed = total(files.map { $0.removed ?? 0 })
        output.data("\(TurnProgress.changed(files.count)), +\(added) −\(removed)")
        if let notCheckedOut { output.data(output.fitted(notCheckedOut + ".")) }
        if let hidden { output.data(output.fitted(hidden + ".")) }
        let large = files.count { $0.leftOut != nil }
        if large > 0 {
            output.data(
                output.fitted(
                    large == 1
                        ? "Left out below: 1 file is too large to be compared."
                        : "Left out below: \(large) files are too large to be compared."
                )
            )
        }
    }

    private func writeDifference() {
        guard let diff = changes.diff, !diff.isEmpty else { return }
        output.data("")
        if let options = output.markdown {
            let text = diff.dropping(suffix: "\n").map(String.init) ?? diff
            let rows = MarkdownStream.rows(ofCode: text, language: "diff", with: options)
            rows.withUnsafeBytes { output.context.stdout.write($0) }
        } else {
            output.data(TerminalText.block(diff))
        }
        if changes.truncated { output.data(output.fitted("The rest is left out: the difference is too long.")) }
    }
}

extension ChangedFile {
    /// The change in a word.
    fileprivate var word: String {
        switch status {
        case .added: isUntracked ? "untracked" : "added"
        case .other: "changed"
        default: status.rawValue
        }
    }

    fileprivate var amount: String {
        if let leftOut { return leftOut == 0 ? "too large" : "too large: \(Self.size(leftOut))" }
        if isSubmodule == true { return "repository" }
        if isBinary { return "binary" }
        return "+\(added ?? 0) −\(removed ?? 0)"
    }

    private static func size(_ bytes: Int) -> String {
        bytes < 1_000_000 ? "\(max(bytes / 1000, 1)) kB" : "\(bytes / 1_000_000) MB"
    }
}
