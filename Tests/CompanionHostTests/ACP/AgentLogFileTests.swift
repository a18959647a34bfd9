import FoundationEssentials
import LocalState
import Testing

@testable import CompanionHost

@Suite("The log of what an agent writes to standard error")
struct AgentLogFileTests {
    private func write(_ text: String, to log: inout AgentLogFile) {
        Array(text.utf8).withUnsafeBytes { log.write($0) }
    }

    private func text(_ path: String) throws -> String { try String(contentsOfFile: path, encoding: .utf8) }

    @Test("Each line is kept without what a terminal would obey, also one in pieces and one without an end")
    func lines() async throws {
        try await withTemporaryDirectory { (directory: String) throws in
            let path = directory + "/logs/agent.log"
            var log = AgentLogFile(path: path)
            for piece in ["on", "e\n\n", "  \ntwo \u{1B}[31m", "red\r\nthe ", "rest"] { write(piece, to: &log) }
            #expect(try text(path) == "one\ntwo \u{241B}[31mred\n")
            log.close()
            #expect(try text(path) == "one\ntwo \u{241B}[31mred\nthe rest\n")
            #expect(log.lastLines == ["one", "two \u{241B}[31mred", "the rest"])
            #expect(try mode(of: path) == 0o600)
        }
    }

    @Test("Of a long line, the beginning is kept, and the next one is whole")
    func longLine() async throws {
        try await withTemporaryDirectory { (directory: String) throws in
            var log = AgentLogFile(path: directory + "/agent.log")
            write(String(repeating: "x", count: 1 << 20), to: &log)
            write(String(repeating: "y", count: 1 << 20) + "\nnext\n", to: &log)
            log.close()
            #expect(try text(directory + "/agent.log") == String(repeating: "x", count: 4096) + "\nnext\n")
            #expect(log.lastLines == [String(repeating: "x", count: AgentLogFile.keptLength), "next"])
        }
    }

    @Test("The last lines are kept for a report")
    func lastLines() async throws {
        try await withTemporaryDirectory { (directory: String) throws in
            var log = AgentLogFile(path: directory + "/agent.log")
            write((1...9).map { "line \($0)\n" }.joined(), to: &log)
            log.close()
            #expect(log.lastLines == (5...9).map { "line \($0)" })
        }
    }

    @Test("A full file becomes the earlier one, also a file of an earlier process, and both are private")
    func rotation() async throws {
        try await withTemporaryDirectory { (directory: String) throws in
            let path = directory + "/agent.log"
            /// 1024 bytes each, so that as many fill a file.
            func lines(_ numbers: Range<Int>) -> String {
                numbers.map { "\($0 + 100_000)" + String(repeating: "-", count: 1017) + "\n" }.joined()
            }
            var log = AgentLogFile(path: path)
            write(lines(0..<1024), to: &log)
            #expect(FileStatus(path)?.size == AgentLogFile.maximumSize && FileStatus(path + ".1") == nil)
            write(lines(1024..<1025), to: &log)
            log.close()
            #expect(try text(path + ".1") == lines(0..<1024))
            #expect(try text(path) == lines(1024..<1025))

            var next = AgentLogFile(path: path)
            write(lines(1025..<2048), to: &next)
            #expect(try text(path + ".1") == lines(0..<1024))
            write(lines(2048..<2049), to: &next)
            next.close()
            #expect(try text(path + ".1") == lines(1024..<2048))
            #expect(try text(path) == lines(2048..<2049))
            for name in [path, path + ".1"] { #expect(try mode(of: name) == 0o600) }
        }
    }

    @Test("Where the file cannot be opened, or is a link, nothing is written, and the last lines are there")
    func noFile() async throws {
        try await withTemporaryDirectory { (directory: String) throws in
            try Data("mine".utf8).write(to: URL(filePath: directory + "/mine"))
            try link(directory + "/mine", at: directory + "/agent.log")
            for path in [directory + "/agent.log", directory + "/mine/agent.log"] {
                var log = AgentLogFile(path: path)
                write("words\n", to: &log)
                log.close()
                #expect(log.lastLines == ["words"])
            }
            #expect(try text(directory + "/mine") == "mine")
        }
    }
}
