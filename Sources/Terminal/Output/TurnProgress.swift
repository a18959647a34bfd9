package import CompanionWire

/// The progress of a running turn, as far as the host reports it.
package struct TurnProgress: LiveLine {
    /// The host's own words for its current work; nil if it gave none, or if a tool has begun since.
    package var status: String?
    /// The tools that run, the last one at the end, by their ids.
    private var running: [(id: String?, name: String)] = []
    /// How often each tool ran, in the order of their first runs.
    private var tools: [(name: String, count: Int)] = []
    private var tokens: Int?
    /// How many files the agent has changed, where the host has said it.
    package var changedFiles: Int?
    /// How freely the agent works, where the host has said it.
    package var mode: AgentMode?

    package init() {}

    private static let frames = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"]

    package mutating func begin(_ tool: String, id: String?) {
        running.append((id, tool))
        status = nil
        if let index = tools.firstIndex(where: { $0.name.isSame(as: tool) }) {
            tools[index].count += 1
        } else {
            tools.append((tool, 1))
        }
    }

    package mutating func end(_ tool: String, id: String?) {
        let index = running.lastIndex { running in
            id.map { running.id?.isSame(as: $0) ?? false } ?? running.name.isSame(as: tool)
        }
        if let index { running.remove(at: index) }
    }

    package mutating func count(_ usage: TurnUsage) {
        tokens = usage.totalTokens ?? TurnUsage.sum(usage.inputTokens, usage.outputTokens) ?? tokens
    }

    /// The moving part, and the time: they change even if nothing else does.
    package static func frame(elapsed: Double) -> String {
        frames[Int(max(0, elapsed) * 10) % frames.count] + " " + time(max(0, elapsed))
    }

    package func line(elapsed: Double, columns: Int) -> String {
        let doing = status ?? running.last.map { "⚙ \($0.name)" }
        let parts = [Self.frame(elapsed: elapsed), doing, tokens.map(Self.tokens), mode?.text]
        return DisplayWidth.cut(TerminalText.line(parts.compactMap(\.self).joined(separator: " · ")), to: columns)
    }

    /// The summary of a turn that has ended; nil for a quick one of which there is nothing to say.
    package func summary(elapsed: Double) -> String? {
        let names = tools.map { $0.count == 1 ? $0.name : "\($0.name) ×\($0.count)" }
        let used = names.isEmpty ? nil : "tools: " + names.joined(separator: ", ")
        let parts = [
            elapsed < 1 ? nil : Self.time(elapsed), used, changedFiles.map(Self.changed), tokens.map(Self.tokens),
            mode.map { TerminalText.line($0.text) },
        ].compactMap(\.self)
        return parts.isEmpty ? nil : parts.joined(separator: " · ")
    }

    package static func changed(_ files: Int) -> String {
        files == 1 ? "1 file changed" : "\(files) files changed"
    }

    private static func tokens(_ count: Int) -> String {
        count == 1 ? "1 token" : "\(count) tokens"
    }

    /// Whole seconds, which do not make the line jump.
    private static func time(_ seconds: Double) -> String {
        let seconds = Int(seconds)
        return seconds < 60 ? "\(seconds) s" : Duration.seconds(seconds).span
    }
}
