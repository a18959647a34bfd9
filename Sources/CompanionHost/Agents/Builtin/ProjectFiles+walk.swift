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
    /// - Returns: Whether everything was visited.
    @discardableResult
    func walk(from start: [String] = [], visit: ([String], Entry) throws -> Bool) throws -> Bool {
        var pending = [start]
        var visits = 0
        while let names = pending.popLast() {
            // A directory that vanished, or may not be read, is passed by.
            guard let entries = try? entries(of: names) else { continue }
            var children: [[String]] = []
            for entry in entries {
                visits += 1
                guard visits <= Self.maximumVisits else { return false }
                guard try visit(names + [entry.name], entry) else { return false }
                if entry.kind == .directory, !Self.skipped.contains(entry.name), names.count < Self.maximumDepth {
                    children.append(names + [entry.name])
                }
            }
            pending += children.reversed()
        }
        return true
    }
}
