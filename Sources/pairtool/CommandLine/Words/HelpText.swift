import ArgumentParser
import CompanionWire

/// Reformats the help of a command. The argument parser prints headings in capitals, and puts the options of a group
/// before those of the command itself.
enum HelpText {
    /// - Parameter text: What the parser prints with exit code 0.
    /// - Returns: The help in a readable form, or the text itself if it is not help.
    static func readable(_ text: String) -> String {
        guard text.begins(with: overview) || text.begins(with: usage) else { return text }
        let body = text.dropping(prefix: overview).map(String.init) ?? text
        var lines = body.parts("\n", omittingEmpty: false).map { Line(String($0)) }
        moveOptions(in: &lines)
        moveExamples(in: &lines)
        while lines.last?.text.isEmpty == true { lines.removeLast() }
        return lines.map(\.text).joined(separator: "\n")
    }

    private static let overview = "OVERVIEW: "
    private static let usage = "USAGE: "

    /// A line, and whether it is a heading.
    private struct Line {
        var text: String
        var isHeading = false

        init(_ text: String) {
            self.text = text
            if let rest = text.dropping(prefix: HelpText.usage) {
                self.text = "Usage: \(rest)"
            } else if let heading = HelpText.heading(text) {
                self.text = heading
                isHeading = true
            } else if text.begins(with: "  See 'pairtool help") {
                self.text = "Run `pairtool help COMMAND` to see the options and examples of a command."
            }
        }
    }

    /// The heading of a section in sentence case; nil for any other line.
    private static func heading(_ line: String) -> String? {
        guard line.utf8.count > 4, line.ends(with: ":"), !line.begins(with: " "),
            line.unicodeScalars.dropLast().allSatisfy({ ("A"..."Z").contains($0) || $0 == " " || $0 == "," })
        else { return nil }
        if line == "SUBCOMMANDS:" { return "Commands:" }
        let title = line.dropping(suffix: " SUBCOMMANDS:").map(String.init) ?? String(line.dropLast())
        // Names of groups keep their capitals.
        if let group = Pairtool.configuration.groupedSubcommands.first(where: { $0.name.uppercased() == title }) {
            return group.name + ":"
        }
        return title.prefix(1) + title.dropFirst().lowercased() + ":"
    }

    /// Moves the examples to the end. The parser treats them as part of the description.
    private static func moveExamples(in lines: inout [Line]) {
        guard let examples = lines.firstIndex(where: { $0.text == "Examples:" || $0.text == "Example:" }),
            let usage = lines.firstIndex(where: { $0.text.begins(with: "Usage: ") }), examples < usage
        else { return }
        let section = lines[examples..<usage].filter { !$0.text.isEmpty }
        lines.removeSubrange(examples..<usage)
        while lines.last?.text.isEmpty == true { lines.removeLast() }
        lines += [Line("")] + section
    }

    /// Moves the section with the command's own options before those of option groups.
    private static func moveOptions(in lines: inout [Line]) {
        guard let options = lines.firstIndex(where: { $0.isHeading && $0.text == "Options:" }),
            let group = lines.firstIndex(where: { $0.isHeading && $0.text != "Arguments:" }), group < options
        else { return }
        let end = lines[options...].firstIndex { $0.text.isEmpty } ?? lines.endIndex
        let section = Array(lines[options..<end])
        // Includes the empty line before the section.
        lines.removeSubrange((options - 1)..<end)
        lines.insert(contentsOf: section + [Line("")], at: group)
    }
}
