import CompanionApp
import CompanionWire
import FoundationEssentials
import LocalState
import PairingAgent
import Terminal

/// Text files of this machine that a prompt names as `@path` or `@"path with blanks"`.
struct PromptAttachments: Sendable {
    /// The largest file, in bytes.
    static let limit = 256 << 10
    /// How many lines of a file are shown before it is sent.
    private static let shownLines = 5

    let context: TerminalContext
    let interaction: any Interaction

    /// A file that a prompt names.
    struct Mention: Sendable {
        /// As it is in the prompt, with the sign.
        var text: String
        var path: String
    }

    /// Shows the files that a prompt names, and adds their content.
    ///
    /// - Returns: The prompt to send; nil if the user does not want to send it so.
    func attach(to prompt: String) async throws -> String? {
        var whole = prompt
        for mention in try await BlockingCall.run({ mentions(in: prompt) }) {
            let content: String
            switch try await BlockingCall.run({ read(mention) }) {
            case .failure(let reason):
                let asked = "\(reason.text) Send the prompt with \(mention.text) as text?"
                guard try await interaction.confirm(asked) else { return nil }
                continue
            case .success(let text): content = text
            }
            context.stderr.write(preview(of: mention, content: content))
            guard try await interaction.confirm("Send this file to the host?") else { return nil }
            whole += "\n\nThe file \(mention.path):\n" + CodeFence.around(content)
        }
        return whole
    }

    /// Finds the files that a prompt names: words that begin with `@`. A word without quotes that names no existing
    /// file counts only if it contains a slash.
    func mentions(in prompt: String) -> [Mention] {
        var found: [Mention] = []
        var rest = prompt.unicodeScalars[...]
        var isStart = true
        let quote: Unicode.Scalar = "\""
        while let scalar = rest.popFirst() {
            defer { isStart = scalar.properties.isWhitespace || scalar == "(" }
            guard scalar == "@", isStart else { continue }
            let mention: Mention
            if rest.first == quote, let end = rest.dropFirst().firstIndex(of: quote) {
                let path = String(rest[rest.index(after: rest.startIndex)..<end])
                mention = Mention(text: "@\"\(path)\"", path: path)
            } else {
                let word = Substring(rest.prefix { !$0.properties.isWhitespace })
                guard let path = path(word) else { continue }
                mention = Mention(text: "@" + path, path: path)
            }
            if !found.contains(where: { $0.text.isSame(as: mention.text) }) { found.append(mention) }
        }
        return found
    }

    /// The path in a word: without punctuation behind it, unless the file's name ends so.
    private func path(_ word: Substring) -> String? {
        let marks = ",.;:!?)'\""
        let whole = String(word)
        var path = whole
        while FileStatus(HomePath.expanded(path, in: context)) == nil, let last = path.unicodeScalars.last,
            marks.unicodeScalars.contains(last)
        {
            path.unicodeScalars.removeLast()
        }
        if FileStatus(HomePath.expanded(path, in: context)) != nil { return path.isEmpty ? nil : path }
        return whole.has("/") ? path : nil
    }

    private struct Refusal: Error {
        var text: String
    }

    private func read(_ mention: Mention) -> Result<String, Refusal> {
        let path = HomePath.expanded(mention.path, in: context)
        let name = TerminalText.line(mention.path)
        guard let status = FileStatus(path) else { return .failure(Refusal(text: "There is no file \(name).")) }
        switch status.kind {
        case .file: break
        case .directory: return .failure(Refusal(text: "\(name) is a directory."))
        default: return .failure(Refusal(text: "\(name) is not a file."))
        }
        do {
            guard let bytes = try InputFile.read(path, limit: Self.limit) else {
                return .failure(Refusal(text: "\(name) has more than \(Self.limit / 1024) KiB."))
            }
            guard !bytes.contains(0), let text = String(validating: bytes, as: UTF8.self) else {
                return .failure(Refusal(text: "\(name) is not a text file."))
            }
            return .success(text)
        } catch {
            return .failure(Refusal(text: "\(TerminalText.line(AppError(describing: error).message))."))
        }
    }

    /// The name, the size and the first lines.
    private func preview(of mention: Mention, content: String) -> String {
        let columns = context.windowSize()?.columns ?? 80
        let lines = content.parts("\n", omittingEmpty: false)
        let count = content.ends(with: "\n") ? lines.count - 1 : lines.count
        var text = "\(TerminalText.line(mention.path)): \(content.utf8.count) bytes, \(count) "
        text += count == 1 ? "line\n" : "lines\n"
        for line in lines.prefix(min(count, Self.shownLines)) {
            text += "  │ \(DisplayWidth.cut(TerminalText.line(String(line)), to: max(1, columns - 4)))\n"
        }
        return count > Self.shownLines ? text + "  │ …\n" : text
    }
}

/// Paths that users type.
enum HomePath {
    /// The path with the home directory in place of `~`.
    static func expanded(_ path: String, in context: TerminalContext) -> String {
        guard path.isSame(as: "~") || path.begins(with: "~/"), let home = context.environment["HOME"] else {
            return path
        }
        return home + path.dropFirst()
    }
}
