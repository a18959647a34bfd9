import CompanionWire

extension Explorer {
    private static let maximumLines = 500
    private static let incompleteText = "… there may be more: not everything was searched"
    private static let maximumShownLines = 400
    private static let maximumShownLineSize = 2000
    private static let maximumMatches = 200
    private static let maximumSearchTextSize = 1000
    private static let searchTime = Duration.seconds(10)

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

    func show(_ file: String, lines range: ClosedRange<Int>?) throws -> String {
        let names = try files.names(file)
        let (bytes, size) = try files.read(names, limit: Self.maximumFileSize)
        guard let text = text(of: bytes) else {
            throw ProjectFiles.Refusal(
                text: "`\(names.joined(separator: "/"))` is not text (\(Self.shown(size: size)))."
            )
        }
        var lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
        if lines.last?.isEmpty == true { lines.removeLast() }
        let first = range?.lowerBound ?? 1
        let wanted = lines.dropFirst(first - 1).prefix(range?.count ?? .max)
        let shown = wanted.prefix(Self.maximumShownLines)
        for (offset, line) in shown.enumerated() {
            let number = String(first + offset)
            let padding = String(repeating: " ", count: max(0, 5 - number.count))
            say(found: "\(padding)\(number)  \(line.prefix(Self.maximumShownLineSize))")
        }
        let last = first + shown.count - 1
        if shown.isEmpty { say("There are no such lines: the file has \(lines.count).") }
        if shown.count < wanted.count {
            say("… go on with `show \(names.joined(separator: "/")):\(last + 1)-\(last + Self.maximumShownLines)`")
        }
        if size > bytes.count { say("… only the first \(Self.shown(size: bytes.count)) of the file were read") }
        let path = names.joined(separator: "/")
        return shown.isEmpty ? "\(path): no such lines" : "\(path): lines \(first)-\(last) of \(lines.count)"
    }

    /// Lines that contain a text, literally. A text in lower case finds any case.
    func search(text: String) throws -> String {
        guard text.utf8.count <= Self.maximumSearchTextSize else {
            throw ProjectFiles.Refusal(text: "The text to search for is over \(Self.maximumSearchTextSize) bytes.")
        }
        let ignoresCase = text == text.lowercased()
        let wanted = Array(text.utf8)
        let end = ContinuousClock.now + Self.searchTime
        let isStopped = { self.isCancelled.isSet || .now > end }
        var found = 0
        var looked = 0
        var passedBy = 0
        let isComplete = try files.walk { names, entry in
            guard !isStopped() else { return false }
            guard entry.kind == .file else { return true }
            guard entry.size <= Self.maximumFileSize,
                let content = try? files.read(names, limit: Self.maximumFileSize)
            else {
                passedBy += 1
                return true
            }
            guard !content.bytes.prefix(8 << 10).contains(0) else { return true }
            looked += 1
            var number = 0
            for line in content.bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
                number += 1
                if number % 256 == 0, isStopped() { return false }
                guard
                    let isMatch = Self.contains(line, wanted: wanted, ignoringCase: ignoresCase, isStopped: isStopped)
                else { return false }
                guard isMatch else { continue }
                let text = String(decoding: line.prefix(300), as: UTF8.self).trimmingWhitespace()
                say(found: "\(names.joined(separator: "/")):\(number): \(text)")
                found += 1
                guard found < Self.maximumMatches else { return false }
            }
            return true
        }
        if found == 0 { say(isComplete ? "No match." : "No match in the lines searched.") }
        if passedBy > 0 {
            say("… \(passedBy) files were skipped: over \(Self.shown(size: Self.maximumFileSize)), or not readable")
        }
        if !isComplete { say(Self.incompleteText) }
        return "\(found) \(found == 1 ? "line" : "lines") in \(looked) \(looked == 1 ? "file" : "files") searched"
    }

    /// Whether bytes occur in a line, nil when stopped; ASCII letters may differ in case when `ignoringCase`.
    private static func contains(
        _ line: ArraySlice<UInt8>,
        wanted: [UInt8],
        ignoringCase: Bool,
        isStopped: () -> Bool
    ) -> Bool? {
        guard let first = wanted.first, line.count >= wanted.count else { return false }
        func folded(_ byte: UInt8) -> UInt8 {
            ignoringCase && (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
        }
        var tries = 0
        for start in line.startIndex...(line.endIndex - wanted.count) where folded(line[start]) == first {
            tries += 1
            if tries % 1024 == 0, isStopped() { return nil }
            if zip(line[start...], wanted).allSatisfy({ folded($0) == $1 }) { return true }
        }
        return false
    }
}
