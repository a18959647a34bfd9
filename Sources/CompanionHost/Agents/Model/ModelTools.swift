import CompanionWire
import FoundationEssentials
import NIOConcurrencyHelpers
import Providers

/// The explorer's read-only tools as functions that a model can call.
enum ModelTool: String, Sendable, CaseIterable {
    case listDirectory = "list_directory"
    case showTree = "show_tree"
    case findFiles = "find_files"
    case search = "search"
    case readFile = "read_file"
    case gitLog = "git_log"

    /// Bytes of a call's arguments.
    static let argumentsSize = 64 << 10

    /// The tool of the explorer that has to be among a turn's allowed tools.
    var permission: BuiltinAgent.Tool {
        switch self {
        case .listDirectory, .showTree: .listDirectory
        case .findFiles: .findFiles
        case .search: .search
        case .readFile: .readFile
        case .gitLog: .gitLog
        }
    }

    static func allowed(by names: Set<String>?) -> [ModelTool] {
        allCases.filter { tool in
            guard let names else { return true }
            return names.contains(tool.permission.rawValue) || names.contains(tool.rawValue)
        }
    }

    var definition: ProviderTool {
        ProviderTool(
            name: rawValue,
            description: description,
            parameters: [
                "type": "object",
                "properties": .object(properties),
                "required": .array(required.map(JSONValue.string)),
            ]
        )
    }

    private var description: String {
        switch self {
        case .listDirectory: "List the entries of one directory of the project, with the sizes of files."
        case .showTree: "Show the files and directories below a directory of the project as a tree."
        case .findFiles: "Find files and directories of the project by name."
        case .search: "Find lines that contain a text, in all files of the project. Text in lower case finds any case."
        case .readFile: "Read a text file of the project, with line numbers."
        case .gitLog: "Show the latest commits of the project."
        }
    }

    private var properties: [String: JSONValue] {
        func text(_ description: JSONValue) -> JSONValue { ["type": "string", "description": description] }
        func number(_ description: JSONValue) -> JSONValue { ["type": "integer", "description": description] }
        let directory = text("A path relative to the project. Default: the project's own directory.")
        return switch self {
        case .listDirectory: ["path": directory]
        case .showTree: ["path": directory, "depth": number("Levels, 1 to 8. Default: 3.")]
        case .findFiles: ["pattern": text("A part of a name, or a pattern with * and ? for whole names or paths.")]
        case .search: ["text": text("The text, literally.")]
        case .readFile:
            [
                "path": text("The file, relative to the project."),
                "first_line": number("The first line to read, from 1. Default: 1."),
                "last_line": number("The last line to read. Default: as many as fit."),
            ]
        case .gitLog: ["count": number("How many commits, 1 to 100. Default: 10.")]
        }
    }

    private var required: [String] {
        switch self {
        case .listDirectory, .showTree, .gitLog: []
        case .findFiles: ["pattern"]
        case .search: ["text"]
        case .readFile: ["path"]
        }
    }
}

/// Why a call was not carried out, for the model.
struct ModelToolRefusal: Error, Sendable, Hashable {
    var text: String
}

extension ModelTool {
    private struct Arguments: Decodable {
        var path: String?
        var depth: Int?
        var pattern: String?
        var text: String?
        var first_line: Int?
        var last_line: Int?
        var count: Int?
    }

    /// Reads a call's arguments.
    func command(_ arguments: String) throws(ModelToolRefusal) -> BuiltinCommand {
        let arguments = try Self.decode(arguments)
        func needed(_ value: String?, name: String) throws(ModelToolRefusal) -> String {
            guard let value, !value.isEmpty else { throw ModelToolRefusal(text: "Error: `\(name)` is missing.") }
            return value
        }
        func clamped(_ value: Int?, usual: Int, to range: ClosedRange<Int>) -> Int {
            min(max(value ?? usual, range.lowerBound), range.upperBound)
        }
        switch self {
        case .listDirectory: return .list(directory: arguments.path ?? "")
        case .showTree:
            return .tree(directory: arguments.path ?? "", depth: clamped(arguments.depth, usual: 3, to: 1...8))
        case .findFiles: return .find(pattern: try needed(arguments.pattern, name: "pattern"))
        case .search: return .search(text: try needed(arguments.text, name: "text"))
        case .readFile:
            let path = try needed(arguments.path, name: "path")
            guard arguments.first_line != nil || arguments.last_line != nil else {
                return .show(file: path, lines: nil)
            }
            let first = clamped(arguments.first_line, usual: 1, to: 1...Int(Int32.max))
            return .show(
                file: path,
                lines: first...clamped(arguments.last_line, usual: Int(Int32.max), to: first...Int(Int32.max))
            )
        case .gitLog: return .log(count: clamped(arguments.count, usual: 10, to: 1...100))
        }
    }

    private static func decode(_ text: String) throws(ModelToolRefusal) -> Arguments {
        guard text.utf8.count <= argumentsSize else {
            throw ModelToolRefusal(text: "Error: the arguments are over \(argumentsSize) bytes.")
        }
        // Some models send nothing where nothing is needed.
        let json = text.trimmingWhitespace().isEmpty ? "{}" : text
        do {
            return try JSONDecoder().decode(Arguments.self, from: CompanionJSON.repaired(Data(json.utf8)))
        } catch DecodingError.typeMismatch(_, let context) {
            guard let name = context.codingPath.first?.stringValue else {
                throw ModelToolRefusal(text: "Error: the arguments are not a JSON object.")
            }
            throw ModelToolRefusal(text: "Error: `\(name)` has the wrong type.")
        } catch {
            throw ModelToolRefusal(text: "Error: the arguments are not valid JSON.")
        }
    }

    /// Carries a command out.
    ///
    /// - Parameter limit: Bytes of the result.
    /// - Returns: The text for the model, and the text for people.
    static func run(
        _ command: BuiltinCommand,
        in directory: String,
        limit: Int
    ) async throws -> (result: String, details: String?, isDone: Bool) {
        let answer = NIOLockedValueBox(ModelToolAnswer(limit: limit))
        try await BuiltinAgent.run(command, in: directory, asMarkdown: false) { event in
            answer.withLockedValue { $0.take(event) }
        }
        return answer.withLockedValue { ($0.result, $0.details, $0.isDone) }
    }
}

/// Collects the explorer's answer for a model, up to a limit.
struct ModelToolAnswer: Sendable {
    let limit: Int
    private var text: [UInt8] = []
    private var size = 0
    private(set) var details: String?
    private(set) var isDone = true

    init(limit: Int) {
        self.limit = limit
    }

    mutating func take(_ event: TurnEvent) {
        switch event {
        case .text(let piece):
            size += piece.utf8.count
            text += piece.utf8.prefix(limit - text.count)
        case .toolComplete(_, _, let success, let output):
            if let output { details = output }
            if !success { isDone = false }
        default: break
        }
    }

    var result: String {
        guard size > limit else { return String(decoding: text, as: UTF8.self) }
        // Behind the last whole line, where there is one.
        let end = text.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? text.endIndex
        let shown = String(decoding: text[..<end], as: UTF8.self)
        return shown + "… cut off, \(size - end) more bytes: ask for less at a time.\n"
    }
}
