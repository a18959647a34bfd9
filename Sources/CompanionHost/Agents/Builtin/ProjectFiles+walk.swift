extension ProjectFiles {
    /// Directories that hold nothing that people wrote.
    static let skipped: Set<String> = [
        ".git", ".build", ".svn", ".hg", "node_modules", ".venv", "__pycache__", "DerivedData", ".swiftpm",
    ]
    /// Entries that one walk visits.
    static let maximumVisits = 50_000
    static let maximumDepth = 32

    /// Visits the files below a directory, each directory's own before those of its children.
    ///
    /// - Parameter visit: Gets the names of the path; returns whether to go on.
    /// - Returns: Whether everything was visited but the content of ``skipped`` directories.
    @discardableResult
    func walk(from start: [String] = [], visit: ([String], Entry) throws -> Bool) throws -> Bool {
        var pending = [start]
        var visits = 0
        var isComplete = true
        while let names = pending.popLast() {
            // A directory that vanished, or may not be read, is skipped.
            guard let listing = try? listing(of: names) else {
                isComplete = false
                continue
            }
            if !listing.isComplete { isComplete = false }
            var children: [[String]] = []
            for entry in listing.entries {
                visits += 1
                guard visits <= Self.maximumVisits else { return false }
                guard try visit(names + [entry.name], entry) else { return false }
                guard entry.kind == .directory, !Self.skipped.contains(entry.name) else { continue }
                if names.count < Self.maximumDepth {
                    children.append(names + [entry.name])
                } else {
                    isComplete = false
                }
            }
            pending += children.reversed()
        }
        return isComplete
    }
}
