import FoundationEssentials
import NIOConcurrencyHelpers
import QRCodec
import Subprocess
import SystemPackage
import Testing

@testable import pairtool

/// A terminal that the tool runs at (see `Tests/Support/terminal.py`).
struct Terminal: Sendable {
    private let program: RunningProgram
    /// How much of what was shown has been waited for, in characters.
    private let place = NIOLockedValueBox(0)

    fileprivate init(_ program: RunningProgram) {
        self.program = program
    }

    func type(_ text: String) async throws {
        try await program.tell(String(decoding: try JSONEncoder().encode(text), as: UTF8.self))
    }

    /// Types a bracketed paste.
    func paste(_ text: String) async throws {
        try await type("\u{1B}[200~\(text)\u{1B}[201~")
    }

    func resize(columns: Int, rows: Int = 60) async throws {
        try await program.tell("[\(columns), \(rows)]")
    }

    func signal(_ number: Int32) async throws {
        try await program.tell("\(number)")
    }

    /// Waits until a text is shown, behind what was waited for before.
    ///
    /// - Returns: What was shown before it.
    @discardableResult
    func shows(_ text: String) async throws -> String {
        let begin = place.withLockedValue(\.self)
        let rest = try await shown(text) { $0.dropFirst(begin).contains(text) }.dropFirst(begin)
        let found = try #require(rest.firstRange(of: text))
        let before = String(rest[..<found.lowerBound])
        place.withLockedValue { $0 = begin + before.count + text.count }
        return before
    }

    /// Waits until a condition holds for everything that was shown so far.
    ///
    /// - Parameter what: What is waited for, in words.
    @discardableResult
    func shown(_ what: String, where condition: @escaping @Sendable (String) -> Bool) async throws -> String {
        let line = try await program.events.firstLine(what) { $0["shown"]?.string.map(condition) ?? false }
        return try #require(line["shown"]?.string)
    }

    /// Waits for the end of the command.
    ///
    /// - Returns: Whether the terminal shows what is typed then.
    var echoesAtEnd: Bool {
        get async throws {
            try await program.events.firstLine("the end") { $0["status"] != nil }["echoes"] == .bool(true)
        }
    }

    /// Waits for the end of the command.
    var status: Int {
        get async throws {
            let end = try await program.events.firstLine("the end") { $0["status"] != nil }
            guard case .number(let status)? = end["status"] else { throw RunningProgram.Ended() }
            return Int(status)
        }
    }
}

extension Sandbox {
    /// Runs the built binary, or another program, at a terminal of its own.
    func atTerminal<R: Sendable>(
        _ arguments: [String],
        columns: Int = 100,
        rows: Int = 60,
        environment: [String: String] = [:],
        program: String = BuiltTool.path,
        _ body: @escaping @Sendable (Terminal) async throws -> R
    ) async throws -> R {
        let script = ["\(LAN.support)/terminal.py", "--size", "\(columns)x\(rows)", "--follow", program]
        return try await withProgram(.path("/usr/bin/python3"), script + arguments, environment: environment) {
            try await body(Terminal($0))
        }
    }
}

/// Reads the last QR code that a terminal shows in half blocks, dark on light.
func readHalfBlocks(_ shown: String) throws -> [UInt8] {
    let blocks: Set<Character> = ["█", "▀", "▄"]
    let lines = shown.split(separator: "\n", omittingEmptySubsequences: false).map { line in
        String(line).replacing(/\u{1B}\[[0-9;?]*[A-Za-z]/, with: "").filter { $0 != "\r" }
    }
    // The lines of a drawing are as wide as each other, and follow each other.
    let isDrawing = lines.map { $0.contains(where: blocks.contains) }
    let last = try #require(isDrawing.lastIndex(of: true))
    let first = isDrawing[..<last].lastIndex(of: false).map { $0 + 1 } ?? 0
    let rows = lines[first...last].map { Array($0) }
    let (scale, margin) = (4, 4)
    let columns = try #require(rows.map(\.count).max())
    let (width, height) = ((columns + 2 * margin) * scale, (rows.count * 2 + 2 * margin) * scale)
    var shades = [UInt8](repeating: 255, count: width * height)
    for (number, row) in rows.enumerated() {
        for (column, character) in row.enumerated() {
            for half in 0...1 where character == "█" || character == (half == 0 ? "▀" : "▄") {
                for y in 0..<scale {
                    let start = ((number * 2 + half + margin) * scale + y) * width + (column + margin) * scale
                    for x in start..<start + scale { shades[x] = 0 }
                }
            }
        }
    }
    let found = try QRScanner.scan(QRImage(width: width, height: height, luminance: shades))
    try #require(found.count == 1, "\(found.count) codes in\n\(lines[first...last].joined(separator: "\n"))")
    return found[0].bytes
}
