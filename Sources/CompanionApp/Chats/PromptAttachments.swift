import CompanionWire
import LocalState
import PairingAgent

/// Text files of this machine that a prompt names as `@path` or `@"path with blanks"`.
package struct PromptAttachments: Sendable {
    /// The largest file, in bytes.
    static let limit = 256 << 10

    private let environment: AppEnvironment

    package init(environment: AppEnvironment) {
        self.environment = environment
    }

    /// A file that a prompt names.
    package struct Mention: Sendable {
        /// As it is in the prompt, with the sign.
        package var text: String
        package var path: String
    }

    /// Shows the files that a prompt names, and adds their content.
    ///
    /// - Parameter show: Shows a file's content before the user is asked whether it is sent.
    /// - Returns: The prompt to send; nil if the user does not want to send it so.
    /// - Throws: `CancellationError` when the user interrupts.
    package func attach(
        to prompt: String,
        show: (_ mention: Mention, _ content: String) -> Void
    ) async throws -> String? {
        var whole = prompt
        for mention in try await BlockingCall.run({ mentions(in: prompt) }) {
            let content: String
            switch try await read(mention) {
            case .failure(let reason):
                let asked = "\(reason.text) Send the prompt with \(mention.text) as text?"
                guard try await environment.interaction.confirm(asked) else { return nil }
                continue
            case .success(let text): content = text
            }
            show(mention, content)
            guard try await environment.interaction.confirm("Send this file to the host?") else { return nil }
            whole += "\n\nThe file \(mention.path):\n" + CodeFence.around(content)
        }
        return whole
    }

    /// Finds the files that a prompt names: words that begin with `@`. A word without quotes that names no existing
    /// file counts only if it contains a slash.
    package func mentions(in prompt: String) -> [Mention] {
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
        while FileStatus(environment.expanded(path)) == nil, let last = path.unicodeScalars.last,
            marks.unicodeScalars.contains(last)
        {
            path.unicodeScalars.removeLast()
        }
        if FileStatus(environment.expanded(path)) != nil { return path.isEmpty ? nil : path }
        return whole.has("/") ? path : nil
    }

    private struct Refusal: Error {
        var text: String
    }

    private func read(_ mention: Mention) async throws -> Result<String, Refusal> {
        let path = environment.expanded(mention.path)
        let name = TerminalText.line(mention.path)
        guard let status = try await BlockingCall.run({ FileStatus(path) }) else {
            return .failure(Refusal(text: "There is no file \(name)."))
        }
        switch status.kind {
        case .file: break
        case .directory: return .failure(Refusal(text: "\(name) is a directory."))
        default: return .failure(Refusal(text: "\(name) is not a file."))
        }
        do {
            guard let bytes = try await environment.fileContent(path, Self.limit) else {
                return .failure(Refusal(text: "\(name) has more than \(Self.limit / 1024) KiB."))
            }
            guard !bytes.contains(0), let text = String(validating: bytes, as: UTF8.self) else {
                return .failure(Refusal(text: "\(name) is not a text file."))
            }
            return .success(text)
        } catch let error as AppError {
            return .failure(Refusal(text: "\(TerminalText.line(error.message))."))
        }
    }
}
