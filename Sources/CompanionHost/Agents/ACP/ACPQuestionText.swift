import CompanionWire
import FoundationEssentials

/// The text of a question about a tool call. It leaves out nothing that the agent says of the call, because a person
/// decides by it.
struct ACPQuestionText {
    /// The most bytes of it. A text that is longer says so first.
    static let size = 1 << 20

    var call: ToolReport
    /// The changes that it would make.
    var diffs: [AgentDiff]
    /// The agent's title, where ``call`` has only the beginning of it, or has it in one line.
    var title: CutText?
    var input: JSONValue?
    /// The text of the call's content.
    var content: CutText
    /// Content of kinds that this version does not know.
    var others: [JSONValue]
    /// The agent's directory, from which paths are shown.
    var directory: String?

    var text: String {
        let command = ACPCommand(input)
        var parts: [String] = []
        // Bytes of what is shown that were too many to be kept.
        var missing = 0
        if let title, title.missing > 0 || command?.text.isSame(as: title.text) != true {
            parts.append(title.text)
            missing += title.missing
        }
        if let command { parts.append(command.text) }
        // Rules decide by them: people have to see them, too.
        let changed = Set(diffs.map { ByteText($0.path) })
        let places = call.locations.filter { !changed.contains(ByteText($0.path)) }.map(line(of:))
        if !places.isEmpty { parts.append(places.joined(separator: "\n")) }
        if call.changes.count > 1 {
            parts.append(
                "Files that would change: "
                    + call.changes.map { $0.path.relative(to: directory).oneLine(atMost: 4096) }.joined(separator: ", ")
            )
        }
        parts += call.changes.map(\.diff)
        parts += rest(behind: command)
        // Agents repeat their command as the content of the call.
        let isRepeated = content.missing == 0 && parts.contains { $0.isSame(as: content.text) }
        if !content.text.isEmpty, !isRepeated {
            parts.append(content.text)
            missing += content.missing
        }
        parts += others.map(\.indentedJSON)
        if parts.isEmpty, let output = call.output { parts.append(output) }
        return Self.whole(parts.map { $0.ends(with: "\n") ? $0 : $0 + "\n" }.joined(), missing: missing)
    }

    /// The arguments that are not shown yet.
    private func rest(behind command: ACPCommand?) -> [String] {
        switch input {
        case nil, .null?: return []
        case .string(let words)?: return [words]
        case .object(var members)?:
            for name in command?.names ?? [] { members[name] = nil }
            let texts = shownTexts
            for (name, value) in members where isShown(name, value: value, among: texts) { members[name] = nil }
            return members.isEmpty ? [] : [JSONValue.object(members).indentedJSON]
        case let other?: return [other.indentedJSON]
        }
    }

    /// The names by which tools that edit call a file, its old text and its new one.
    private static let editNames = Set(
        [
            "path", "file_path", "filePath", "abs_path", "absolute_path", "file", "filename", "target_file",
            "notebook_path", "old_string", "old_str", "oldString", "old_text", "oldText", "old", "new_string",
            "new_str",
            "newString", "new_text", "newText", "new", "content", "contents", "file_text", "text",
        ].map { ByteText($0) }
    )

    /// The paths of the call, and its old and new texts as far as a difference shows all of them.
    private var shownTexts: Set<ByteText> {
        var texts = Set((call.locations.map(\.path) + diffs.map(\.path)).map { ByteText($0) })
        for diff in diffs where diff.isShownWhole {
            texts.insert(ByteText(diff.new))
            if let old = diff.old { texts.insert(ByteText(old)) }
        }
        return texts
    }

    /// Whether a difference, or the line of a path, shows all of the same. Name and value are both looked at, as an
    /// agent may call anything by such a name, and give the text of a file to a member that runs it.
    private func isShown(_ name: String, value: JSONValue, among texts: Set<ByteText>) -> Bool {
        guard Self.editNames.contains(ByteText(name)), let text = value.string else { return false }
        return texts.contains(ByteText(text))
    }

    private func line(of place: AgentLocation) -> String {
        let remark = place.path.isSame(as: "/?") ? " (a path that cannot be shown, or more than are shown)" : ""
        return
            "path: \(place.path.relative(to: directory).oneLine(atMost: 4096))\(place.line.map { ":\($0)" } ?? "")\(remark)"
    }

    /// - Parameter missing: Bytes that the text lacks already.
    private static func whole(_ text: String, missing: Int) -> String {
        let shown = CutText(text, atMost: size)
        let left = shown.missing + missing
        guard left > 0 else { return text }
        return "This is too long to be shown: \(left) more bytes follow at the end, which you do not see.\n\n"
            + "\(shown.text)\n… (\(left) more bytes)\n"
    }
}

/// The command among the arguments of a tool.
struct ACPCommand {
    /// The members that have it.
    var names: [String]
    /// The command as it would be typed.
    var text: String

    /// nil where there is none that is all text.
    init?(_ input: JSONValue?) {
        guard let member = Self.member(of: input), let text = Self.words(member.value) else { return nil }
        (names, self.text) = ([member.name], text)
        guard let more = input?["args"], more != .null else { return }
        guard let words = Self.words(more) else { return nil }
        names.append("args")
        if !words.isEmpty { self.text += " \(words)" }
    }

    /// The member that has the command; its value may be anything.
    static func member(of input: JSONValue?) -> (name: String, value: JSONValue)? {
        for name in ["command", "cmd"] {
            if let value = input?[name], value != .null { return (name, value) }
        }
        return nil
    }

    /// Text as it is, several words as they would be typed; nil for anything else.
    private static func words(_ value: JSONValue) -> String? {
        guard let elements = value.array else { return value.string }
        let words = elements.compactMap(\.string)
        guard words.count == elements.count else { return nil }
        return words.enumerated().map { quoted($1, isFirst: $0 == 0) }.joined(separator: " ")
    }

    /// A word in quotes, unless it is the same word without them. Else `["rm", "a b"]` would look like `["rm", "a",
    /// "b"]`.
    static func quoted(_ word: String, isFirst: Bool) -> String {
        // What has a “=” and stands first would be a variable.
        guard word.isEmpty || !word.utf8.allSatisfy(isPlain) || isFirst && word.has("=") else { return word }
        return "'\(word.parts("'", omittingEmpty: false).joined(separator: #"'\''"#))'"
    }

    /// Whether a byte is a letter, a digit, or a sign that means nothing to a shell.
    private static func isPlain(_ byte: UInt8) -> Bool {
        (0x61...0x7a).contains(byte | 0x20) || (0x30...0x39).contains(byte) || "_-./:,@%+=".utf8.contains(byte)
    }
}

extension JSONValue {
    /// JSON in several lines.
    var indentedJSON: String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        return String(decoding: (try? encoder.encode(self)) ?? Data(), as: UTF8.self)
    }
}
