import CompanionWire

extension Explorer {
    private static let maximumTypes = 8
    private static let readmeLines = 12

    /// Describes the project: its files by type, and the beginning of its README.
    func about() {
        say("I am the project explorer. This is what I see here:")
        say("")
        var readme: [String]?
        use(.listDirectory) {
            var counts: [String: Int] = [:]
            var total = 0
            let isComplete = try files.walk { names, entry in
                guard entry.kind == .file else { return !isCancelled.isSet }
                total += 1
                counts[Self.type(of: entry.name), default: 0] += 1
                if names.count == 1, readme == nil, entry.name.lowercased().begins(with: "readme") { readme = names }
                return !isCancelled.isSet
            }
            say("\(isComplete ? "" : "at least ")\(total) files: \(Self.summary(counts))")
            return "\(total) files"
        }
        if let readme { use(.readFile) { try self.quote(readme) } }
        say("")
        say("Ask me for one of these:")
        say("")
        for line in BuiltinText.commands.parts("\n") { say(String(line)) }
    }

    private func quote(_ names: [String]) throws -> String {
        let (bytes, _) = try files.read(names, limit: 16 << 10)
        guard let text = text(of: bytes) else { throw ProjectFiles.Refusal(text: "The README is not text.") }
        say("")
        let lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).prefix(Self.readmeLines)
        for line in lines { say("> \(line.prefix(400))") }
        return "\(names.joined(separator: "/")): \(lines.count) lines"
    }

    private static func type(of name: String) -> String {
        guard let (stem, end) = name.cut(atLast: "."), !stem.isEmpty else { return "no extension" }
        let suffix = "." + end.lowercased()
        return suffix.utf8.count <= 12 ? suffix : "other"
    }

    private static func summary(_ counts: [String: Int]) -> String {
        let sorted = counts.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
        let shown = sorted.prefix(maximumTypes).map { "\($0.value) \($0.key)" }
        let rest = sorted.dropFirst(maximumTypes).reduce(0) { $0 + $1.value }
        return (shown + (rest > 0 ? ["\(rest) others"] : [])).joined(separator: ", ")
    }
}
