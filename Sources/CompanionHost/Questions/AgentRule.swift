package import CompanionWire
import Glibc
import LocalState

extension AgentRule {
    /// A message for people about what is wrong with the rule; nil for a rule that can be kept.
    package var fault: String? {
        guard kind != nil || command != nil || path != nil else {
            return "A rule needs a kind of tool, a command or a path."
        }
        if command != nil, path != nil { return "A rule has a command or a path, not both." }
        if [kind, command, path].contains(where: { $0?.utf8.count ?? 0 > 1000 }) { return "The rule is too long." }
        if let kind, !Self.kinds.contains(where: { $0.isSame(as: kind) }) {
            let near = NearestWord.of(kind, in: Self.kinds).map { "; did you mean \($0)?" } ?? "."
            return "There is no kind of tool “\(kind)”\(near) The kinds are \(Self.kinds.joined(separator: ", "))."
        }
        if let command, ToolUse.words(command)?.isEmpty ?? true {
            return "A rule's command is plain words, without quotes, variables, redirections or several commands."
        }
        if let path, ToolUse.names(path) == nil {
            return "A rule's path is relative to the project, without “..”."
        }
        return nil
    }

    /// How far a rule concerns the use of a tool.
    private enum Concern {
        case all, part, none
        /// That cannot be told.
        case unknown
    }

    private func concern(_ use: ToolUse) -> Concern {
        if let kind, !kind.isSame(as: use.kind) {
            // What runs a command is forbidden as such, whatever the agent calls it.
            guard effect != .allow, kind.isSame(as: "execute"), use.isCommand else { return .none }
        }
        if effect == .allow, !mayAllow(use) { return .none }
        if let command, let wanted = ToolUse.words(command) {
            guard use.isCommand else { return .none }
            guard let words = use.words else { return .unknown }
            // Where the program is makes no difference to what is forbidden, and all to what is allowed.
            let first = effect == .allow ? words.first : words.first?.parts("/").last.map(String.init)
            let isMeant =
                words.count >= wanted.count && first?.isSame(as: wanted[0]) == true
                && zip(words, wanted).dropFirst().allSatisfy { $0.isSame(as: $1) }
            // `env git push`, `git -C . push`: a program may run what stands behind it.
            guard isMeant else { return effect != .allow && ToolUse.names(wanted, in: words) ? .unknown : .none }
        }
        guard let path, let names = ToolUse.names(path) else { return .all }
        guard use.hasKnownPaths else {
            // A rule for a path stands for itself: what names nothing there is left to the other rules.
            return effect != .allow && use.isClear(of: names) ? .none : .unknown
        }
        // What is allowed in the project is not what a link in it leads to.
        let places = effect == .allow ? [ToolUse.joined(use.directory, with: names)] : use.places(names)
        let inside = use.paths.map { use.isInside($0, places: places) }
        let count = inside.count { $0 == true }
        if count == 0, effect != .allow, inside.contains(nil) || use.holds(names) { return .unknown }
        return count == 0 ? .none : count == inside.count ? .all : .part
    }

    /// Whether the rule may allow the use at all: no rule allows more than it names.
    private func mayAllow(_ use: ToolUse) -> Bool {
        // Its own path is compared with each of the tool's.
        if path == nil, !use.paths.allSatisfy(use.isInProject) { return false }
        guard use.isCommand else {
            // What uses files and does not say which may mean any.
            return path != nil || !use.usesFiles || use.hasKnownPaths
        }
        // A tool that reads runs nothing.
        if let kind, command == nil, !kind.isSame(as: "execute") { return false }
        return !use.hasUnknownArguments && use.directories.allSatisfy(use.isInProject)
    }

    /// Returns the rule that decides: one that denies comes before one that asks, and that before one that allows.
    /// Nothing is allowed if it is unknown whether another rule forbids it.
    ///
    /// - Returns: nil where a person has to be asked and no rule says so.
    static func deciding(_ rules: [AgentRule], on use: ToolUse) -> AgentRule? {
        let concerns = rules.map { (rule: $0, concern: $0.concern(use)) }
        for effect in [Effect.deny, .ask] {
            let found = concerns.first { $0.rule.effect == effect && ($0.concern == .all || $0.concern == .part) }
            if let found { return found.rule }
        }
        if concerns.contains(where: { $0.rule.effect != .allow && $0.concern == .unknown }) { return nil }
        return concerns.first { $0.rule.effect == .allow && $0.concern == .all }?.rule
    }
}

/// The use of a tool, as far as rules look at it. All of it comes from the agent.
struct ToolUse: Sendable {
    /// Kinds of tools that say which files they use.
    private static let fileKinds: Set<String> = ["read", "edit", "delete", "move", "search"]
    /// Kinds of tools that use no files.
    private static let otherKinds: Set<String> = ["think", "fetch", "switch_mode"]

    var kind: String
    /// As it would be typed; nil for none.
    var command: String?
    /// The paths that it names: absolute, or relative to the project.
    var paths: [String]
    /// The directories in which it would run the command, as far as the agent names them.
    var directories: [String]
    /// Whether the agent says more of a command than is understood here.
    var hasUnknownArguments: Bool
    /// The directory that the agent works in: absolute, without symbolic links.
    var directory: String
    /// ``directory``, and that of the listed project if the agent works elsewhere, such as in a worktree.
    var roots: [String]

    init(_ question: ProposedTool, directory: String, project: String? = nil) {
        kind = question.call.kind
        command = question.command
        paths = question.call.locations.map(\.path) + question.call.changes.map(\.path)
        directories = question.directories
        hasUnknownArguments = question.hasUnknownArguments
        self.directory = directory
        roots = [directory] + (project.map { $0.isSame(as: directory) ? [] : [$0] } ?? [])
    }

    /// Whether it runs a command, known or not.
    var isCommand: Bool { command != nil || kind.isSame(as: "execute") }

    /// The words of its command; nil for one that is more than plain words: only a shell can tell what that does.
    var words: [String]? { command.flatMap(Self.words) }

    /// Whether its kind is one that says which files it uses.
    var usesFiles: Bool { Self.fileKinds.contains(kind) }

    /// Whether the paths of the files that it uses are known. A tool that moves a file has to name both paths.
    var hasKnownPaths: Bool {
        !isCommand && Self.fileKinds.contains(kind) && paths.count >= (kind.isSame(as: "move") ? 2 : 1)
    }

    /// The position of a path, as seen from a place that a rule names.
    private enum Position {
        /// To the place, or below it.
        case inside
        /// To the directory that the agent works in, or to the listed project.
        case root
        /// To another directory that the place is below.
        case above
        case outside
        /// That cannot be told.
        case unknown
    }

    /// Whether a command, or a tool that uses no files, certainly names neither a place nor a directory above it.
    /// Blocks.
    ///
    /// A command may change all that is below a directory that it names. That it runs in the project does not count:
    /// every command does, and a rule for a path would become a rule for all commands.
    ///
    /// - Parameter place: The names that lead there, from one of ``roots``.
    func isClear(of place: [String]) -> Bool {
        let reported = paths + (isCommand ? directories : [])
        let isReportedClear = reported.allSatisfy { path in
            let found = position(of: resolved(path), seenFrom: place)
            return found == .outside || found == .root
        }
        guard isReportedClear else { return false }
        guard isCommand else { return Self.otherKinds.contains(kind) }
        guard !hasUnknownArguments, let words else { return false }
        // Only the agent says where the command runs: its words may mean paths there, or where the agent works.
        let starts = [directory] + directories.compactMap { resolved($0) }
        return words.enumerated().allSatisfy { index, word in
            Self.paths(in: word).allSatisfy { path in
                starts.allSatisfy { start in
                    switch position(of: resolved(path, from: start), seenFrom: place) {
                    case .outside: true
                    // The first word is a program, which is no directory.
                    case .root, .above: index == 0
                    case .inside, .unknown: false
                    }
                }
            }
        }
    }

    /// Whether one of its paths is a directory above a place. Blocks.
    ///
    /// The project itself counts only if it is deleted or moved: a search usually covers all of the project.
    ///
    /// - Parameter place: The names that lead there, from one of ``roots``.
    func holds(_ place: [String]) -> Bool {
        let takesAll = kind.isSame(as: "delete") || kind.isSame(as: "move")
        return paths.contains { path in
            let found = position(of: resolved(path), seenFrom: place)
            return found == .above || takesAll && found == .root
        }
    }

    /// - Parameters:
    ///   - real: The path that a path leads to (``resolved(_:from:)``); nil if that is unknown.
    ///   - place: The names that lead to the place, from one of ``roots``.
    private func position(of real: String?, seenFrom place: [String]) -> Position {
        guard let real else { return .unknown }
        let places = places(place)
        if places.contains(where: { RealPath.isInside(real, of: $0) }) { return .inside }
        if roots.contains(where: { real.isSame(as: $0) }) { return .root }
        return places.contains { RealPath.isInside($0, of: real) } ? .above : .outside
    }

    /// The paths of a place that a rule forbids, and the targets of those that are symbolic links. Blocks.
    ///
    /// - Parameter names: The names that lead there, from one of ``roots``.
    func places(_ names: [String]) -> [String] {
        roots.flatMap { root in
            let place = Self.joined(root, with: names)
            return [place] + (resolved(place).map { [$0] } ?? [])
        }
    }

    /// Whether a path is one of some places or below one, after all symbolic links are resolved. Blocks.
    ///
    /// - Returns: nil if that is unknown.
    func isInside(_ path: String, places: [String]) -> Bool? {
        resolved(path).map { real in places.contains { RealPath.isInside(real, of: $0) } }
    }

    /// Whether a path is certainly where the agent works, or in the listed project. Blocks.
    func isInProject(_ path: String) -> Bool { isInside(path, places: roots) == true }

    /// Resolves the symbolic links of a path, as far as it exists.
    ///
    /// - Parameter start: The directory at which a relative path begins: absolute, without symbolic links. Default:
    ///   nil, the one that the agent works in.
    /// - Returns: nil if the target is unknown: the path goes up, is in somebody's home, is a URL, differs from process
    ///   to process, or has a link that leads nowhere yet.
    private func resolved(_ path: String, from start: String? = nil) -> String? {
        let whole = path.begins(with: "/") ? path : "\(start ?? directory)/\(path)"
        // An absolute path is what it is.
        let isPlain = path.begins(with: "/") || !path.begins(with: "~") && !path.has(":/")
        guard !path.isEmpty, !path.isSame(as: "/?"), isPlain,
            let names = Self.names(String(whole.dropping(prefix: "/") ?? "")),
            names.first.map({ !$0.isSame(as: "proc") && !$0.isSame(as: "dev") }) ?? true
        else { return nil }
        for count in stride(from: names.count, through: 0, by: -1) {
            let part = "/" + names.prefix(count).joined(separator: "/")
            if let real = RealPath.of(part) {
                return ([real] + names.dropFirst(count)).joined(separator: "/")
            }
            guard FileStatus(part, followingLinks: false) == nil, errno == ENOENT else { return nil }
        }
        return nil
    }

    // MARK: Text

    /// The path of names below a directory, which is absolute.
    static func joined(_ directory: String, with names: [String]) -> String {
        (directory.isSame(as: "/") ? "" : directory) + names.map { "/" + $0 }.joined()
    }

    /// The names of a relative path; nil for one that is absolute or goes up.
    static func names(_ path: String) -> [String]? {
        guard !path.isEmpty, !path.begins(with: "/"), !path.utf8.contains(0) else { return nil }
        let names = path.parts("/").map(String.init).filter { !$0.isSame(as: ".") }
        return names.contains { $0.isSame(as: "..") } ? nil : names
    }

    /// The texts in a word of a command that may be paths: all of it, and the parts behind an option or a separator.
    private static func paths(in word: String) -> [String] {
        let parts = word.utf8.split { "=:,@%+".utf8.contains($0) }.map { Array($0) }
        let options = parts.filter { $0.first == UInt8(ascii: "-") }.map { Array($0.dropFirst(2)) }
        return [word] + (parts + options).filter { !$0.isEmpty }.map { String(decoding: $0, as: UTF8.self) }
    }

    /// Whether some words stand among others, in their order.
    static func names(_ wanted: [String], in words: [String]) -> Bool {
        var rest = wanted[...]
        for word in words {
            guard let next = rest.first else { break }
            if word.isSame(as: next) || word.parts("/").last?.isSame(as: next) == true { rest = rest.dropFirst() }
        }
        return rest.isEmpty
    }

    /// The words of a command without anything that a shell would change or add; nil for others.
    static func words(_ command: String) -> [String]? {
        guard command.utf8.allSatisfy({ isPlain($0) || $0 == 0x20 }) else { return nil }
        let words = command.parts(" ").map(String.init)
        // What is set before a command may change what it does.
        guard words.first.map({ !$0.has("=") }) ?? true else { return nil }
        return words
    }

    /// Whether a byte is a letter, a digit, or a sign that means nothing to a shell.
    static func isPlain(_ byte: UInt8) -> Bool {
        (0x61...0x7a).contains(byte | 0x20) || (0x30...0x39).contains(byte) || "_-./:,@%+=".utf8.contains(byte)
    }
}
