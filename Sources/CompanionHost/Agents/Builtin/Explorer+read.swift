import CompanionWire

extension Explorer {
    private static let maximumShownLines = 400
    private static let maximumShownLineSize = 2000
    private static let maximumMatches = 200
    private static let maximumSearchTextSize = 1000
    private static let searchTime = Duration.seconds(10)

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
        return "\(found) lines in \(looked) files searched"
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
