import CompanionWire

/// Carries out the project explorer's commands. Blocks; ends early when it is cancelled.
final class Explorer {
    /// Bytes of text that one piece of an answer has, roughly.
    static let pieceSize = 4 << 10
    /// Bytes of a file that are looked into.
    static let maximumFileSize = 2 << 20

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
}
