import Foundation
import Testing

@testable import Terminal

@Suite final class PromptHistoryFileTests {
    private let directory = FileManager.default.temporaryDirectory.path + "/prompt-tests-\(UUID().uuidString)"

    deinit {
        try? FileManager.default.removeItem(atPath: directory)
    }

    @Test("Chats that end prompts at the same time lose none, and 1,000 are kept")
    func together() async {
        let directory = directory
        await withTaskGroup(of: Void.self) { group in
            for chat in 0..<8 {
                group.addTask {
                    for number in 0..<25 { PromptHistoryFile(directory: directory).append("\(chat) \(number)") }
                }
            }
        }
        let file = PromptHistoryFile(directory: directory)
        #expect(Set(file.load()).count == 200)
        for number in 0..<1000 { file.append("later \(number)") }
        #expect(file.load().count == 1000)
        #expect(file.load().first == "later 0")
    }

    @Test("Repeated prompts, those that begin with a blank and very long ones are not kept; several lines are")
    func kept() {
        let file = PromptHistoryFile(directory: directory)
        for prompt in ["a\nb", "a\nb", " c", String(repeating: "x", count: 20_000), "\u{1F600}\\n\t"] {
            file.append(prompt)
        }
        #expect(file.load() == ["a\nb", "\u{1F600}\\n\t"])
    }

    @Test(
        "A damaged file, and one of a later version, stay as they are",
        arguments: ["{", #"{"version":2,"prompts":["a"]}"#]
    )
    func foreign(content: String) throws {
        let path = "\(directory)/prompts.json"
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        try content.write(toFile: path, atomically: false, encoding: .utf8)
        let file = PromptHistoryFile(directory: directory)
        file.append("new")
        #expect(file.load().isEmpty)
        #expect(try String(contentsOfFile: path, encoding: .utf8) == content)
    }
}
