import CompanionWire
import FoundationEssentials
import GRDB
import Glibc
import Testing

@testable import History

@Suite("Several processes use the history", .timeLimit(.minutes(15)))
struct HistoryProcessTests {
    /// The program that writes, beside the tests.
    private static var program: String {
        var buffer = [UInt8](repeating: 0, count: Int(PATH_MAX))
        let count = readlink("/proc/self/exe", &buffer, buffer.count)
        var path = String(decoding: buffer.prefix(max(0, count)), as: UTF8.self)
        // The tests run in a program of the toolchain or in one of their own, which names their bundle.
        if let bundle = CommandLine.arguments.first(where: { $0.contains(".xctest") }) { path = bundle }
        return String(path[..<(path.lastIndex(of: "/") ?? path.endIndex)]) + "/history-writer"
    }

    private struct Writer {
        let process: pid_t
        let output: Int32

        /// - Parameter words: What it is to do, as the program has it.
        init(_ path: String, _ words: String...) throws {
            var ends: [Int32] = [0, 0]
            guard pipe(&ends) == 0 else { throw HistoryError(.unavailable, "no pipe") }
            for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
            var actions = posix_spawn_file_actions_t()
            posix_spawn_file_actions_init(&actions)
            defer { posix_spawn_file_actions_destroy(&actions) }
            posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO)
            let words = [HistoryProcessTests.program, path] + words
            var arguments = words.map { strdup($0) } + [nil]
            defer { arguments.forEach { free($0) } }
            var process: pid_t = 0
            let result = posix_spawn(&process, words[0], &actions, nil, &arguments, environ)
            close(ends[1])
            guard result == 0 else {
                throw HistoryError(.unavailable, "\(words[0]): \(String(cString: strerror(result)))")
            }
            (self.process, output) = (process, ends[0])
        }

        /// Reads this many bytes of the output, or up to its end. Returns how many lines they end.
        func read(_ count: Int) -> Int {
            var (lines, rest) = (0, count)
            var byte: UInt8 = 0
            while rest > 0, Glibc.read(output, &byte, 1) == 1 {
                if byte == 10 { lines += 1 }
                rest -= 1
            }
            return lines
        }

        func end() {
            kill(process, SIGKILL)
            _ = waitForEnd()
        }

        /// Returns how many microseconds of the processor it has taken.
        func waitForEnd() -> Int {
            var (status, usage) = (Int32(0), rusage())
            wait4(process, &status, 0, &usage)
            close(output)
            return [usage.ru_utime, usage.ru_stime].reduce(0) { $0 + $1.tv_sec * 1_000_000 + $1.tv_usec }
        }
    }

    @Test("Killed at any of 40 moments, it opens, and has all that was written before")
    func killed() async throws {
        let history = try TestHistory()
        var dice = Dice(seed: 1)
        for round in 0..<40 {
            let writer = try Writer(history.path, "write", "w\(round)", "1000000")
            // Somewhere in one of the writes that follow.
            let written = writer.read(1 + dice.roll(12))
            for _ in 0..<dice.roll(2000) { sched_yield() }
            writer.end()
            let store = try HistoryStore(path: history.path)
            defer { store.closeBlocking() }
            let id = TestHistory.host.id
            let known = try await store.messages(hostID: id, chatID: "chat w\(round)", cursor: 0, limit: 100_000)
            let count = known?.value.messages.elements.count ?? 0
            // Each write is whole or not there.
            #expect(count >= written * 20 && count.isMultiple(of: 20))
        }
        try await checkIntegrity(of: history)
    }

    @Test("Killed while it removes what is old, only old messages are gone, and the next time removes the others")
    func killedInPrune() async throws {
        let history = try TestHistory()
        let (old, new) = (4500, 20)
        var dice = Dice(seed: 3)
        // Between these moments, as far as is known, it removes.
        var (cut, begin, end) = (0, 0, 0)
        for round in 0..<60 where cut < 3 {
            let chat = "c\(round)"
            for (number, age) in [(0, 2), (old, 0)] {
                try await history.store.keep(
                    messages: (number..<(number == 0 ? old : old + new)).map { number in
                        CompanionMessage(
                            id: "\(number)",
                            role: .user,
                            text: "water \(number)",
                            createdAt: TestHistory.now.addingTimeInterval(-86_400 * Double(age))
                        )
                    },
                    offset: number,
                    isEnd: number > 0,
                    chatID: chat,
                    of: TestHistory.host,
                    at: TestHistory.now
                )
            }
            // Where nothing is known, or a busy machine has told something wrong, one shows how long all of it takes.
            let isMeasured = end - begin < 100
            let moment = isMeasured ? 0 : begin + 1 + dice.roll(end - begin)
            let time = try Writer(history.path, "prune", "\(moment)").waitForEnd()
            let there = try await history.numbers(inChat: chat)
            #expect(there == Array((old + new - there.count)..<(old + new)) && there.count >= new)
            switch there.count {
            case _ where isMeasured: (begin, end) = (0, time)
            case old + new: begin = moment
            case new: end = moment
            default: cut += 1
            }
            let limits = HistoryLimits(age: 86_400, size: .max)
            #expect(try await history.store.prune(limits, now: TestHistory.now) == there.count - new)
            #expect(try await history.numbers(inChat: chat) == Array(old..<(old + new)))
        }
        #expect(cut == 3, "\(cut) removals were cut")
        try await checkIntegrity(of: history)
    }

    private func checkIntegrity(of history: TestHistory) async throws {
        try await history.store.writeWithoutTransaction { database in
            #expect(try String.fetchOne(database, sql: "PRAGMA integrity_check") == "ok")
            for table in ["message", "tool", "chat"] {
                try database.execute(sql: "INSERT INTO \(table)Text (\(table)Text) VALUES ('integrity-check')")
            }
        }
    }

    @Test("Two that write at once lose nothing")
    func two() async throws {
        let history = try TestHistory()
        let writers = try ["a", "b"].map { try Writer(history.path, "write", $0, "100") }
        for number in 0..<100 {
            try await history.page(["own\(number)"], at: number, chat: "own")
        }
        for writer in writers {
            _ = writer.read(.max)
            writer.end()
        }
        #expect(try await history.store.status().messages == 4100)
    }
}
