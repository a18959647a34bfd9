import CompanionWire

/// A change of a file by an agent.
package struct AgentDiff: Sendable, Hashable {
    /// The path of the file that the agent names; `/?` for one that cannot be shown.
    package var path: String
    /// nil for a new file.
    package var old: String?
    /// The text after the change.
    package var new: String
    /// Changed lines up to which the shortest difference is looked for; where there are more, all of them are shown as
    /// removed and added. The time that it takes grows with the square.
    package var comparedLines = Self.mostComparedLines

    /// The default of ``comparedLines``.
    package static let mostComparedLines = 3000

    package init(path: String, old: String?, new: String) {
        self.path = path
        self.old = old
        self.new = new
    }
}

extension AgentDiff {
    /// Lines around a change that are shown with it.
    private static let context = 3

    /// A line of the difference, with its mark.
    private struct Line {
        var mark: Unicode.Scalar
        var text: Substring
    }

    /// The change as readers get it: with the agent's path of the file, by which rules decide.
    ///
    /// - Parameter directory: The agent's; in the text of the difference, the path of a file in it begins there.
    func change(in directory: String?) -> ToolReport.Change {
        var shown = self
        shown.path = path.relative(to: directory)
        return ToolReport.Change(path: path, diff: shown.unified)
    }

    /// The change as `diff -u` shows it.
    package var unified: String {
        let lines = lines
        var text = "--- \(old == nil ? "/dev/null" : path)\n+++ \(path)\n"
        let shown = Self.shown(lines)
        var oldLine = 1
        var newLine = 1
        var index = 0
        while index < lines.count {
            guard shown[index] else {
                oldLine += 1
                newLine += 1
                index += 1
                continue
            }
            let end = shown[index...].firstIndex(of: false) ?? lines.count
            let hunk = lines[index..<end]
            let removed = hunk.count { $0.mark != "+" }
            let added = hunk.count { $0.mark != "-" }
            text +=
                "@@ -\(removed == 0 ? oldLine - 1 : oldLine),\(removed) +\(added == 0 ? newLine - 1 : newLine),\(added) @@\n"
            for line in hunk { text += "\(line.mark)\(line.text)\n" }
            oldLine += removed
            newLine += added
            index = end
        }
        return text
    }

    /// Whether ``unified`` has all lines of both texts: far from a change, it leaves them out.
    package var isShownWhole: Bool { Self.shown(lines).allSatisfy(\.self) }

    /// Which lines are shown: those that changed, and those around them.
    private static func shown(_ lines: [Line]) -> [Bool] {
        var shown = lines.map { $0.mark != " " }
        for index in lines.indices where lines[index].mark != " " {
            for near in max(index - context, 0)...min(index + context, lines.count - 1) { shown[near] = true }
        }
        return shown
    }

    private var lines: [Line] {
        let old = Self.split(old ?? "")
        let new = Self.split(new)
        var start = 0
        while start < min(old.count, new.count), old[start].isSame(as: new[start]) { start += 1 }
        var end = 0
        while end < min(old.count, new.count) - start, old[old.count - 1 - end].isSame(as: new[new.count - 1 - end]) {
            end += 1
        }
        let same = { (lines: ArraySlice<Substring>) in lines.map { Line(mark: " ", text: $0) } }
        return same(old[..<start])
            + changed(Array(old[start..<(old.count - end)]), Array(new[start..<(new.count - end)]))
            + same(old[(old.count - end)...])
    }

    private func changed(_ old: [Substring], _ new: [Substring]) -> [Line] {
        var gone = Set(old.indices)
        var come = Set(new.indices)
        if old.count + new.count <= comparedLines {
            let difference = new.difference(from: old) { $0.isSame(as: $1) }
            gone = Set(difference.removals.map { if case .remove(let offset, _, _) = $0 { offset } else { 0 } })
            come = Set(difference.insertions.map { if case .insert(let offset, _, _) = $0 { offset } else { 0 } })
        }
        var lines: [Line] = []
        var (left, right) = (0, 0)
        while left < old.count || right < new.count {
            if left < old.count, gone.contains(left) {
                lines.append(Line(mark: "-", text: old[left]))
                left += 1
            } else if right < new.count, come.contains(right) {
                lines.append(Line(mark: "+", text: new[right]))
                right += 1
            } else {
                lines.append(Line(mark: " ", text: old[left]))
                left += 1
                right += 1
            }
        }
        return lines
    }

    private static func split(_ text: String) -> [Substring] {
        guard !text.utf8.isEmpty else { return [] }
        return (text.dropping(suffix: "\n") ?? text[...]).parts("\n", omittingEmpty: false)
    }
}

extension ToolReport.Change {
    /// The path as the heading of the difference has it: from the agent's directory on.
    var shownPath: String {
        diff.parts("\n").dropFirst().first?.dropping(prefix: "+++ ").map(String.init) ?? path
    }

    /// How many lines are new, and how many went.
    var counts: (added: Int, removed: Int) {
        // The first two name the file.
        let lines = diff.parts("\n").dropFirst(2)
        return (lines.count { $0.begins(with: "+") }, lines.count { $0.begins(with: "-") })
    }
}

extension String {
    /// The path as people read it: of what is in a directory, from there on; else as it is.
    ///
    /// A path that may lead out of the directory, such as `a/../../b`, stays as it is. Links are not followed.
    func relative(to directory: String?) -> String {
        guard let directory, let rest = dropping(prefix: directory + "/") else { return self }
        let names = rest.parts("/", omittingEmpty: false)
        return names.contains { name in ["", ".", ".."].contains { name.isSame(as: $0) } } ? self : String(rest)
    }
}
