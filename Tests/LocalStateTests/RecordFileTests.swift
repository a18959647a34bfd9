import FoundationEssentials
import LocalState
import Testing

@Suite struct RecordFileTests {
    private struct Content: Codable, Equatable {
        var version = 1
        var names: [String] = []
    }

    private let directory = FileManager.default.temporaryDirectory.path + "/record-tests-\(UUID().uuidString)"

    private var file: RecordFile<Content> {
        RecordFile(
            path: directory + "/names.json",
            lock: directory + "/names.lock",
            decoder: JSONDecoder(),
            encoder: JSONEncoder(),
            empty: Content(),
            kind: "the names",
            remedy: "restore them"
        )
    }

    private func remove() {
        try? FileManager.default.removeItem(atPath: directory)
    }

    @Test("Records survive, private to their owner; nothing is written while nothing changes")
    func survival() throws {
        defer { remove() }
        try file.update { _ in }
        #expect(try file.stored() == nil && file.load() == Content())
        try file.update { $0.names.append("Studio") }
        #expect(try file.load().names == ["Studio"])
        #expect(FileStatus(file.path)?.permissions == 0o600)
    }

    @Test("Damaged records are an error with the way out, and are left as they are", arguments: ["", "{", "[]"])
    func damaged(content: String) throws {
        defer { remove() }
        try Array(content.utf8).withUnsafeBytes { try PrivateFile.write($0, to: file.path) }
        let error = #expect(throws: RecordFileError.self) { try file.load() }
        #expect(error?.isDamage == true && !file.isWhole)
        #expect(error?.description == "the names in \(file.path) are damaged")
        #expect(error?.remedy == "restore them: mv '\(file.path)' '\(file.path).damaged'")
        #expect(throws: RecordFileError.self) { try file.update { $0.names.append("x") } }
        #expect(try PrivateFile.read(file.path) == Array(content.utf8))
    }

    @Test("Records of a newer version are refused, even where damaged ones are replaced, and are left as they are")
    func newer() throws {
        defer { remove() }
        let content = Array(#"{"version":2,"names":{}}"#.utf8)
        try content.withUnsafeBytes { try PrivateFile.write($0, to: file.path) }
        let error = #expect(throws: RecordFileError.self) {
            try file.update(replacesDamaged: true) { $0.names.append("x") }
        }
        #expect(error?.remedy == "update pairtool" && error?.isDamage == false && file.isWhole)
        #expect(try PrivateFile.read(file.path) == content)
    }

    @Test("Writers at the same time lose nothing of each other")
    func concurrentWriters() async throws {
        defer { remove() }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<24 {
                group.addTask { try file.update { $0.names.append("\(number)") } }
            }
            try await group.waitForAll()
        }
        #expect(Set(try file.load().names) == Set((0..<24).map { "\($0)" }))
    }
}
