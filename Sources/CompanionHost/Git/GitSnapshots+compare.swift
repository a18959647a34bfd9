import CompanionWire

extension GitSnapshots {
    /// A file that is different in two trees.
    struct Change: Sendable {
        var file: ChangedFile
        /// All its names, as they are.
        var paths: [GitPath]
    }

    /// Renames are looked for among this many files.
    private static let renames = "-l300"

    /// Arguments that limit git to the folder, with names relative to it. Paths may follow.
    private static func compare(
        _ options: [String],
        base: String,
        new: GitSnapshot,
        findsRenames: Bool = true
    ) -> [String] {
        let folder = new.repository.folder
        let relative = folder.isEmpty ? [] : ["--relative=\(folder)/"]
        return ["--literal-pathspecs", "diff-tree", "-r"] + (findsRenames ? ["-M", renames] : ["--no-renames"])
            + options + relative + [base, new.tree, "--"]
    }

    /// Lists the files that are different. In a partial clone, those of a commit that are not checked out may not be
    /// there to read: then without renames and counts of lines.
    private func compareTrees(
        _ base: String,
        new: GitSnapshot,
        counting counts: [String],
        borrowing: [String] = []
    ) async throws -> GitProgram.Result {
        func run(_ arguments: [String]) async throws -> GitProgram.Result {
            try await git(
                arguments,
                of: new.repository,
                paths: new.repository.pathspecs,
                objects: new.objects,
                borrowing: borrowing,
                limit: 32 << 20
            )
        }
        let result = try await run(Self.compare(["-z", "--raw"] + counts, base: base, new: new))
        guard !result.isSuccess, !result.isCut, new.repository.isPartial else { return result }
        return try await run(Self.compare(["-z", "--raw"], base: base, new: new, findsRenames: false))
    }

    /// Counts the files that differ between two snapshots of a working tree.
    func count(from old: GitSnapshot, to new: GitSnapshot) async throws -> Int {
        let result = try await compareTrees(old.tree, new: new, counting: [], borrowing: [old.objects])
        guard !result.isCut else { throw GitError(.tooMuch, "Too many files are different") }
        guard result.isSuccess else { throw GitError(.unreadable, result.error) }
        return Self.parse(result.output, digits: new.repository.digits).count
    }

    /// - Parameter base: The name of a tree that is kept.
    func changes(from base: String, to new: GitSnapshot) async throws -> [Change] {
        let counts = ["--numstat", "--no-ext-diff", "--no-textconv"]
        let result = try await compareTrees(base, new: new, counting: counts)
        guard !result.isCut else { throw GitError(.tooMuch, "Too many files are different") }
        guard result.isSuccess else {
            throw GitError(.unreadable, "Git no longer has the files from the start of the session: \(result.error)")
        }
        var changes = Self.parse(result.output, digits: new.repository.digits)
        for index in changes.indices {
            guard let path = changes[index].paths.last else { continue }
            if changes[index].file.leftOut != nil { changes[index].file.leftOut = new.leftOut[path] ?? 0 }
            changes[index].file.isUntracked = changes[index].file.status != .deleted && new.others.contains(path)
        }
        return changes
    }

    /// Returns the difference as a text for people, in git's format.
    ///
    /// - Parameter changes: Those that are wanted; nil wants all.
    func difference(
        from base: String,
        to new: GitSnapshot,
        of changes: [Change]?
    ) async throws -> (text: String, isCut: Bool) {
        let above: [UInt8] = new.repository.folder.isEmpty ? [] : Array((new.repository.folder + "/").utf8)
        let result = try await git(
            Self.compare(["-p", "--no-color", "--no-ext-diff", "--no-textconv"], base: base, new: new),
            of: new.repository,
            paths: changes?.flatMap { $0.paths.map { above + $0.bytes } } ?? new.repository.pathspecs,
            objects: new.objects,
            limit: limits.difference
        )
        guard result.isSuccess || result.isCut else {
            let advice = new.repository.isPartial ? ". \(GitError.partial(new.repository.root))" : ""
            throw GitError(.unreadable, "Git cannot show the difference: \(result.error)\(advice)")
        }
        var bytes = result.output[...]
        if result.isCut, let end = bytes.lastIndex(of: UInt8(ascii: "\n")) { bytes = bytes[...end] }
        return (String(decoding: Self.withoutLeftOut(bytes), as: UTF8.self), result.isCut)
    }

    /// Removes from a difference the files that were left out, in the old tree or in the new one. Names that are not
    /// UTF-8 are in quotes.
    static func withoutLeftOut(_ difference: ArraySlice<UInt8>) -> [UInt8] {
        func marks(_ mark: String) -> [[UInt8]] { ["+", "-"].map { Array("\($0)Subproject commit \(mark)".utf8) } }
        let (leftOut, repositories) = (marks(leftOutMark), marks(repositoryMark))
        let begin = Array("diff --git ".utf8)
        var kept: [UInt8] = []
        // A file that becomes another kind of thing has two parts, with the same first line: it goes, and it comes.
        var file: (head: ArraySlice<UInt8>, parts: [UInt8], isLeftOut: Bool)?
        var part: [UInt8] = []
        var (isHead, isModule, isDropped) = (true, false, false)
        func endPart() {
            if !isDropped { file?.parts += part }
            (part, isHead, isModule, isDropped) = ([], true, false, false)
        }
        func endFile() {
            if let file, !file.isLeftOut { kept += file.parts }
        }
        // Lines of content begin with a blank or a sign, so none can pass for a file's first line.
        for line in difference.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).dropLast() {
            if line.starts(with: begin) {
                endPart()
                if file?.head.elementsEqual(line) != true {
                    endFile()
                    file = (line, [], false)
                }
            }
            if line.starts(with: "@@".utf8) { isHead = false }
            if isHead {
                isModule = isModule || isOfModule(line)
                part += quoted(line)
            } else {
                // A file may have such a line as well.
                if isModule, leftOut.contains(where: { line.starts(with: $0) }) { file?.isLeftOut = true }
                if isModule, repositories.contains(where: { line.starts(with: $0) }) { isDropped = true }
                part += line
            }
            part.append(UInt8(ascii: "\n"))
        }
        endPart()
        endFile()
        return kept
    }

    /// Whether a line above the content says that the entry is a submodule's.
    private static func isOfModule(_ line: ArraySlice<UInt8>) -> Bool {
        ["new file mode 160000", "deleted file mode 160000"].contains { line.elementsEqual($0.utf8) }
            || line.starts(with: "index ".utf8) && line.suffix(7).elementsEqual(" 160000".utf8)
    }

    /// A line above the content, with a name that is not UTF-8 as git could read it. Git itself quotes such names only
    /// together with all that are not ASCII.
    private static func quoted(_ line: ArraySlice<UInt8>) -> [UInt8] {
        guard String(validating: line, as: UTF8.self) == nil else { return Array(line) }
        func quoted(_ name: some Sequence<UInt8>) -> [UInt8] { Array(GitPath(name).quoted.utf8) }
        for start in ["--- ", "+++ ", "rename from ", "rename to "] where line.starts(with: start.utf8) {
            var name = line.dropFirst(start.utf8.count)
            // Git says with it that a name with blanks ends.
            if name.last == UInt8(ascii: "\t") { name = name.dropLast() }
            return name.first == UInt8(ascii: "\"") ? Array(line) : Array(start.utf8) + quoted(name)
        }
        // `diff --git a/name b/name`; with two names, those of a rename are in lines of their own.
        let names = line.dropFirst(11)
        let (old, new) = (names.prefix(names.count / 2), names.suffix(names.count / 2))
        guard line.starts(with: "diff --git a/".utf8), old.dropFirst(2).elementsEqual(new.dropFirst(2)) else {
            return Array(line)
        }
        return Array("diff --git ".utf8) + quoted(old) + [UInt8(ascii: " ")] + quoted(new)
    }

    // MARK: Reading

    /// Reads the output of `diff-tree -z --raw`, with or without `--numstat`.
    static func parse(_ output: [UInt8], digits: Int) -> [Change] {
        var fields = output.split(separator: 0, omittingEmptySubsequences: false)[...]
        var changes: [Change] = []
        var places: [GitPath: Int] = [:]
        while let head = fields.first, head.first == UInt8(ascii: ":") {
            fields.removeFirst()
            let words = String(decoding: head, as: UTF8.self).parts(" ").map(String.init)
            guard words.count == 5, let first = fields.popFirst() else { break }
            let isPair = words[4].begins(with: "R") || words[4].begins(with: "C")
            guard let last = isPair ? fields.popFirst() : first else { break }
            let change = Change(words, from: GitPath(first), to: GitPath(last))
            places[GitPath(last)] = changes.count
            changes.append(change)
        }
        while let head = fields.popFirst(), !head.isEmpty {
            let words = head.split(separator: UInt8(ascii: "\t"), maxSplits: 2, omittingEmptySubsequences: false)
            guard words.count == 3 else { break }
            var path = words[2]
            if path.isEmpty {
                _ = fields.popFirst()
                guard let renamed = fields.popFirst() else { break }
                path = renamed
            }
            guard let place = places[GitPath(path)] else { continue }
            let isSubmodule = changes[place].file.isSubmodule == true || changes[place].file.leftOut != nil
            guard !isSubmodule else { continue }
            changes[place].file.added = Int(String(decoding: words[0], as: UTF8.self))
            changes[place].file.removed = Int(String(decoding: words[1], as: UTF8.self))
            changes[place].file.isBinary = words[0].elementsEqual("-".utf8)
        }
        return changes
    }
}

extension GitSnapshots.Change {
    /// - Parameter words: `:100644 100644 0123… 4567… M`, or `R100`.
    fileprivate init(_ words: [String], from old: GitPath, to new: GitPath) {
        let modes = [words[0].dropping(prefix: ":").map(String.init) ?? words[0], words[1]]
        let status: ChangedFile.Status =
            switch words[4].utf8.first {
            case UInt8(ascii: "A"): .added
            case UInt8(ascii: "D"): .deleted
            case UInt8(ascii: "R"): .renamed
            case UInt8(ascii: "T"): .retyped
            default: .modified
            }
        file = ChangedFile(path: new.text, status: status)
        paths = old == new ? [new] : [old, new]
        if old != new { file.oldPath = old.text }
        let places = zip(modes, words[2...3])
        guard places.contains(where: { mode, _ in mode.isSame(as: "160000") }) else { return }
        let isLeftOut = places.contains { mode, name in
            mode.isSame(as: "160000") && name.begins(with: GitSnapshots.leftOutMark)
        }
        // Between a small file and a large one there is no other kind of thing.
        if isLeftOut, status == .retyped { file.status = .modified }
        file.leftOut = isLeftOut ? 0 : nil
        file.isSubmodule = isLeftOut ? nil : true
    }
}
