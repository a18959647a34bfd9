import CompanionWire

/// Carries out the project explorer's commands. Blocks; ends early when it is cancelled.
final class Explorer {
    /// Bytes of text that one piece of an answer has, roughly.
    static let pieceSize = 4 << 10
    /// Bytes of a file that are looked into.
    static let maximumFileSize = 2 << 20

    private static let maximumTypes = 8
    private static let readmeLines = 12

    let files: ProjectFiles
    let isCancelled: CancellationFlag
    private let emit: @Sendable (TurnEvent) -> Void
    private var lines: AnswerLines
    private var piece = ""
    private var calls = 0

    init(
        directory: String,
        lines: AnswerLines,
        emit: @escaping @Sendable (TurnEvent) -> Void,
        isCancelled: CancellationFlag
    ) throws {
        do {
            files = try ProjectFiles(path: directory)
        } catch {
            throw AgentError(message: error.text)
        }
        self.lines = lines
        self.emit = emit
        self.isCancelled = isCancelled
    }

    func run(_ command: BuiltinCommand) {
        switch command {
        case .list(let directory): use(.listDirectory) { try self.list(directory) }
        case .tree(let directory, let depth): use(.listDirectory) { try self.tree(directory, depth: depth) }
        case .find(let pattern): use(.findFiles) { try self.find(pattern) }
        case .search(let text): use(.search) { try self.search(text: text) }
        case .show(let file, let lines): use(.readFile) { try self.show(file, lines: lines) }
        case .about: about()
        // Answered without files.
        case .help, .log: break
        }
        flush()
    }

    /// Adds a line of text to the answer.
    func say(_ line: String) {
        add(lines.text(line))
    }

    /// Adds a line of a file or a result to the answer.
    func say(found line: String) {
        add(lines.code(line))
    }

    private func add(_ text: String) {
        piece += text
        if piece.utf8.count >= Self.pieceSize { flush() }
    }

    /// Runs a tool between its frames. If the tool refuses, the answer says why.
    ///
    /// - Parameter body: Returns the details, for people.
    func use(_ tool: BuiltinAgent.Tool, _ body: () throws -> String) {
        calls += 1
        let id = "call-\(calls)"
        flush()
        emit(.toolStart(name: tool.rawValue, id: id))
        do {
            let details = try body()
            add(lines.endOfCode())
            flush()
            emit(.toolComplete(name: tool.rawValue, id: id, success: true, details: details))
        } catch {
            let text = (error as? ProjectFiles.Refusal)?.text ?? "That did not work."
            add(lines.endOfCode())
            flush()
            emit(.toolComplete(name: tool.rawValue, id: id, success: false, details: text))
            say(text)
        }
        flush()
    }

    private func flush() {
        guard !piece.isEmpty else { return }
        emit(.text(piece))
        piece = ""
    }

    /// The text of a file, or nil when it is not text.
    func text(of bytes: [UInt8]) -> String? {
        guard !bytes.prefix(8 << 10).contains(0) else { return nil }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// A size for people.
    static func shown(size: Int) -> String {
        switch size {
        case ..<1024: "\(size) B"
        case ..<(1024 * 1024): "\(size / 1024) KiB"
        default: "\(size / 1024 / 1024) MiB"
        }
    }

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
