import CompanionWire
import FoundationEssentials
import GRDB
import Glibc
import Testing

@testable import History

@Suite("The file of the history")
struct HistoryFileTests {
    private func mode(_ path: String) -> UInt32 {
        var status = stat()
        return stat(path, &status) == 0 ? status.st_mode & 0o777 : 0
    }

    @Test("Only its owner can read it, its side files and its directory; space is given back")
    func modes() async throws {
        let history = try TestHistory()
        try await history.page(["a"])
        for file in ["", "-wal", "-shm"] { #expect(mode(history.path + file) == 0o600) }
        #expect(mode(history.directory) == 0o700)
        #expect(try await history.store.read { try Int.fetchOne($0, sql: "PRAGMA auto_vacuum") } == 2)
        // One that others could read is closed to them.
        chmod(history.path, 0o644)
        _ = try HistoryStore(path: history.path)
        #expect(mode(history.path) == 0o600)
    }

    @Test("Whoever opens it first at the same time as others, each has it")
    func together() async throws {
        for _ in 0..<100 {
            let history = try TestHistory()
            let path = history.directory + "/new/history.db"
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<8 {
                    group.addTask {
                        let store = try await HistoryStore.open(path: path)
                        let host = HistoryHost(id: "host\(number)", name: "Mac \(number)", family: .copilotforge)
                        _ = try await store.keepPrompt("hi", chatID: "c", of: host, at: TestHistory.now)
                        await store.close()
                    }
                }
                try await group.waitForAll()
            }
            let store = try await HistoryStore.open(path: path)
            #expect(try await store.allChats().count == 8)
            await store.close()
        }
    }

    @Test("One that others can write is refused", arguments: [0o666, 0o620])
    func unsafe(mode: UInt32) throws {
        let history = try TestHistory()
        chmod(history.path, mode)
        #expect { try HistoryStore(path: history.path) } throws: { ($0 as? HistoryError)?.code == .unsafe }
        chmod(history.path, 0o600)
        chmod(history.directory, 0o777)
        #expect { try HistoryStore(path: history.path) } throws: { ($0 as? HistoryError)?.code == .unsafe }
        chmod(history.directory, 0o700)
        let link = history.directory + "/link.db"
        symlink(history.path, link)
        #expect { try HistoryStore(path: link) } throws: { ($0 as? HistoryError)?.code == .unsafe }
    }

    @Test("One of a later version is refused and stays as it is")
    func versions() async throws {
        let history = try TestHistory()
        try await history.page(["a"])
        try await history.store.writeWithoutTransaction { try $0.execute(sql: "PRAGMA user_version = 99") }
        #expect { try HistoryStore(path: history.path) } throws: {
            ($0 as? HistoryError)?.code == .newer && "\($0)".contains("later pairtool (version 99")
        }
        #expect(try await history.stored() == ["a"])
    }

    @Test("A file that is damaged, or no database, is reported as that")
    func damaged() async throws {
        let history = try TestHistory()
        try await history.page((0..<500).map { "m\($0)" })
        _ = try await history.store.prune(HistoryLimits(), now: TestHistory.now)
        history.store.closeBlocking()
        try Data("this is no database, and was never one".utf8).write(to: URL(filePath: history.path))
        #expect { try HistoryStore(path: history.path) } throws: { ($0 as? HistoryError)?.code == .damaged }
        try HistoryStore.removeFiles(history.path)
        let new = try HistoryStore(path: history.path)
        #expect(try await new.status().messages == 0)
    }

    @Test("Each damaged history is moved away beside those before, with its log")
    func movedAway() throws {
        let history = try TestHistory()
        history.store.closeBlocking()
        func write(_ text: String, _ path: String) throws { try Data(text.utf8).write(to: URL(filePath: path)) }
        func text(_ path: String) throws -> String { try String(contentsOf: URL(filePath: path), encoding: .utf8) }
        for (number, name) in ["history.db.damaged", "history.db.damaged-2", "history.db.damaged-3"].enumerated() {
            try write("damage \(number)", history.path)
            try write("log \(number)", history.path + "-wal")
            #expect(try HistoryStore.moveFilesAway(history.path) == "\(history.directory)/\(name)")
        }
        for (number, ending) in ["", "-2", "-3"].enumerated() {
            #expect(try text("\(history.path).damaged\(ending)") == "damage \(number)")
            #expect(try text("\(history.path).damaged\(ending)-wal") == "log \(number)")
        }
        for ending in ["", "-wal", "-shm"] {
            #expect(!FileManager.default.fileExists(atPath: history.path + ending))
        }
    }

    @Test("The limits of age and size are kept, and the oldest messages go first")
    func limits() async throws {
        let history = try TestHistory()
        let long = String(repeating: "lorem ipsum dolor sit amet ", count: 80)
        for page in 0..<10 {
            try await history.store.keep(
                messages: (0..<100).map { index in
                    let number = page * 100 + index
                    let time = TestHistory.now.addingTimeInterval(Double(number) * 3600)
                    return CompanionMessage(id: "\(number)", role: .user, text: "\(number) \(long)", createdAt: time)
                },
                offset: page * 100,
                isEnd: true,
                chatID: "c",
                of: TestHistory.host,
                at: TestHistory.now
            )
        }
        let later = TestHistory.now.addingTimeInterval(1000 * 3600)
        let removed = try await history.store.prune(HistoryLimits(age: 900 * 3600), now: later)
        #expect(removed == 100)
        #expect(try await history.stored().count == 900)
        let limit = 1 << 20
        try await history.store.pruneIfDue(HistoryLimits(size: limit), now: later)
        let status = try await history.store.status()
        // Nine tenths of it, and not much less.
        #expect(status.size <= limit && status.size > limit * 8 / 10, "\(status)")
        #expect(status.messages > 180, "\(status)")
        #expect(status.newest == TestHistory.now.addingTimeInterval(999 * 3600))
    }

    @Test("Of what the limits remove, no word stays in the file: neither of messages nor of titles")
    func removedWords() async throws {
        let history = try TestHistory()
        func said(_ id: String, _ text: String, at time: Date) async throws {
            try await history.store.keep(
                messages: [CompanionMessage(id: id, role: .user, text: text, createdAt: time)],
                offset: 0,
                isEnd: true,
                chatID: id,
                of: TestHistory.host,
                at: time
            )
        }
        try await history.list(projects: ["p"])
        try await history.list(chats: ["quincejelly"])
        let later = TestHistory.now.addingTimeInterval(1000)
        try await said("old", "marmalade sandwich", at: TestHistory.now)
        try await said("new", "toast", at: later)
        #expect(try await history.store.prune(HistoryLimits(age: 500), now: later) == 1)
        let bytes =
            try Data(contentsOf: URL(filePath: history.path)) + Data(contentsOf: URL(filePath: history.path + "-wal"))
        let text = String(decoding: bytes, as: UTF8.self)
        #expect(text.contains("toast"))
        for word in ["marmalade", "sandwich", "quincejelly"] { #expect(!text.contains(word), "\(word)") }
    }

    @Test("What a pairing says after its host was forgotten is not kept, by no process; what a later pairing says is")
    func forgottenPairing() async throws {
        let history = try TestHistory()
        var host = TestHistory.host
        host.pairedAt = TestHistory.now
        func list() async throws {
            try await history.store.keep(
                projects: [CompanionProject(id: "p", name: "p", localPath: "/p", lastUpdatedAt: nil)],
                of: host,
                at: TestHistory.now
            )
        }
        try await list()
        let other = try HistoryStore(path: history.path)
        try await other.forget(hostID: host.id, pairedAt: TestHistory.now)
        await other.close()
        await #expect { try await list() } throws: { ($0 as? HistoryError)?.code == .forgotten }
        await #expect { try await history.store.keepPrompt("hi", chatID: "c", of: host, at: TestHistory.now) } throws: {
            ($0 as? HistoryError)?.code == .forgotten
        }
        #expect(try await history.store.hosts().isEmpty)
        host.pairedAt = TestHistory.now.addingTimeInterval(1)
        try await list()
        #expect(try await history.store.hosts().map(\.id) == [host.id])
    }

    @Test("A forgotten host leaves nothing in the file, and others stay")
    func forgotten() async throws {
        let history = try TestHistory()
        try await history.page(["a=marmalade sandwich"])
        try await history.store.keep(
            messages: [CompanionMessage(id: "b", role: .user, text: "toast", createdAt: nil)],
            offset: 0,
            isEnd: true,
            chatID: "c",
            of: TestHistory.other,
            at: TestHistory.now
        )
        try await history.store.forget(hostID: TestHistory.host.id)
        #expect(try await history.found("marmalade").isEmpty)
        #expect(try await history.found("toast") == ["b"])
        for file in [history.path, history.path + "-wal"] {
            let bytes = (try? Data(contentsOf: URL(filePath: file))) ?? Data()
            #expect(!String(decoding: bytes, as: UTF8.self).contains("marmalade"))
        }
        try await history.store.clear(hostIDs: [TestHistory.other.id])
        #expect(try await history.store.hosts().isEmpty)
        try await history.store.forget(hostID: TestHistory.other.id)
    }

    @Test("A backup is a whole history that only its owner can read, and replaces nothing")
    func backup() async throws {
        let history = try TestHistory()
        try await history.page(["a"])
        let copy = history.directory + "/copy.db"
        try await history.store.backUp(to: copy)
        #expect(mode(copy) == 0o600)
        let opened = try HistoryStore(path: copy)
        #expect(try await opened.status().messages == 1)
        await #expect { try await history.store.backUp(to: copy) } throws: { ($0 as? HistoryError)?.code == .exists }
    }
}
