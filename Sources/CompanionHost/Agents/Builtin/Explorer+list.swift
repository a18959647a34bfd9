import CompanionWire

extension Explorer {
    private static let maximumLines = 500
    static let incompleteText = "… there may be more: not everything was searched"

    func list(_ directory: String) throws -> String {
        let names = try files.names(directory)
        let listing = try files.listing(of: names)
        let entries = listing.entries
        let atLeast = listing.isComplete ? "" : "at least "
        for entry in entries.prefix(Self.maximumLines) {
            say(found: line(of: entry))
        }
        if entries.count > Self.maximumLines { say("… and \(atLeast)\(entries.count - Self.maximumLines) more") }
        if entries.isEmpty { say("The directory is empty.") }
        return "\(atLeast)\(entries.count) entries"
    }

    private func line(of entry: ProjectFiles.Entry) -> String {
        switch entry.kind {
        case .directory: "\(entry.name)/"
        case .file: "\(entry.name)  \(Self.shown(size: entry.size))"
        case .link: "\(entry.name)  (symbolic link)"
        case .other: "\(entry.name)  (not a regular file)"
        }
    }

    func tree(_ directory: String, depth: Int) throws -> String {
        let start = try files.names(directory)
        // Fails for what is no directory.
        _ = try files.listing(of: start)
        say(found: start.isEmpty ? "." : AnswerLines.path(start))
        var lines = 0
        let isComplete = try tree(start, prefix: "", depth: depth, lines: &lines)
        if !isComplete { say("… cut off after \(lines) lines: give a directory or a smaller depth") }
        return "\(lines) entries"
    }

    private func tree(_ names: [String], prefix: String, depth: Int, lines: inout Int) throws -> Bool {
        // A directory that may not be read is shown empty.
        let listing = (try? files.listing(of: names)) ?? ProjectFiles.Listing()
        let entries = listing.entries
        for (index, entry) in entries.enumerated() {
            guard lines < Self.maximumLines, !isCancelled.isSet else { return false }
            lines += 1
            let isLast = index == entries.count - 1
            say(found: prefix + (isLast ? "└── " : "├── ") + entry.name + (entry.kind == .directory ? "/" : ""))
            guard entry.kind == .directory, depth > 1, !ProjectFiles.skipped.contains(entry.name) else { continue }
            let below = prefix + (isLast ? "    " : "│   ")
            guard try tree(names + [entry.name], prefix: below, depth: depth - 1, lines: &lines) else { return false }
        }
        return listing.isComplete
    }

    /// Files and directories whose name matches: a pattern with `*` or `?` as a whole, a text anywhere. A pattern
    /// with `/` is compared with the whole path.
    func find(_ pattern: String) throws -> String {
        guard pattern.utf8.count <= 200 else { throw ProjectFiles.Refusal(text: "The pattern is too long.") }
        let isGlob = pattern.has("*") || pattern.has("?")
        let glob = Glob(isGlob ? pattern : "*\(pattern)*")
        let wantsPath = pattern.has("/")
        var found = 0
        let isComplete = try files.walk { names, entry in
            guard glob.matches(wantsPath ? names.joined(separator: "/") : entry.name) else { return !isCancelled.isSet }
            say(found: AnswerLines.path(names) + (entry.kind == .directory ? "/" : ""))
            found += 1
            return found < Self.maximumLines && !isCancelled.isSet
        }
        if found == 0 { say(isComplete ? "Nothing here has such a name." : "Nothing searched has such a name.") }
        if !isComplete { say(Self.incompleteText) }
        return "\(found) found"
    }
}
