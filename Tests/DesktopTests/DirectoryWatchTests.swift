import Desktop
import FoundationEssentials
import Glibc
import Testing

/// A real directory under inotify.
@Suite(.timeLimit(.minutes(15))) struct DirectoryWatchTests {
    private func withDirectory<R>(_ body: (String) async throws -> R) async throws -> R {
        let path = FileManager.default.temporaryDirectory.path + "/pairtool-watch-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: path) }
        return try await body(path)
    }

    private func write(_ text: String, to path: String) throws {
        try Data(text.utf8).write(to: URL(filePath: path))
    }

    /// What a watch has told, in whatever order: how the system puts events together, and how long it takes for that,
    /// differs from one run to another. A file may be told again.
    private struct Told {
        let events: AsyncThrowingStream<WatchedFiles.Output, any Error>
        private(set) var all: Set<WatchedFiles.Output> = []

        init(_ events: AsyncThrowingStream<WatchedFiles.Output, any Error>) {
            self.events = events
        }

        /// Waits until all of these have been told.
        mutating func wait(for expected: WatchedFiles.Output...) async throws {
            guard !all.isSuperset(of: expected) else { return }
            for try await event in events {
                all.insert(event)
                if all.isSuperset(of: expected) { return }
            }
            Issue.record("the watch ended; it told \(all)")
        }

        var names: Set<String> {
            Set(
                all.map { event in
                    switch event {
                    case .complete(let name), .quiet(let name): name
                    }
                }
            )
        }
    }

    @Test("Files that are written, renamed into place or linked are told; those before, and below, are not")
    func comings() async throws {
        try await withDirectory { path in
            // A program that another test starts while the file is written closes its copy of the descriptor later,
            // which is told under the name that was opened: written elsewhere, it is not told here.
            try await withDirectory { elsewhere in
                try write("before", to: elsewhere + "/before")
                try FileManager.default.linkItem(atPath: elsewhere + "/before", toPath: path + "/before")
            }
            try FileManager.default.createDirectory(atPath: path + "/below", withIntermediateDirectories: false)
            try await DirectoryWatch.withEvents(of: path) { events in
                var told = Told(events)
                try write("x", to: path + "/below/inner")
                try write("a", to: path + "/a")
                try await told.wait(for: .complete("a"))
                try write("b", to: path + "/.b.part")
                try FileManager.default.moveItem(atPath: path + "/.b.part", toPath: path + "/b")
                try await told.wait(for: .complete("b"))
                try FileManager.default.linkItem(atPath: path + "/before", toPath: path + "/linked")
                try await told.wait(for: .complete("linked"), .quiet("a"))
                #expect(told.names == ["a", "b", "linked"])
            }
        }
    }

    @Test("What is there is told where that is asked for")
    func existing() async throws {
        try await withDirectory { path in
            try write("before", to: path + "/before")
            try write("hidden", to: path + "/.hidden")
            try await DirectoryWatch.withEvents(of: path, existing: true) { events in
                var told = Told(events)
                try await told.wait(for: .complete("before"), .quiet("before"))
                #expect(told.names == ["before"])
            }
        }
    }

    @Test("A directory that is removed or renamed ends the watch with an error", arguments: [true, false])
    func directoryGone(renamed: Bool) async throws {
        try await withDirectory { path in
            let watched = path + "/watched"
            try FileManager.default.createDirectory(atPath: watched, withIntermediateDirectories: false)
            let error = await #expect(throws: DesktopError.self) {
                try await DirectoryWatch.withEvents(of: watched) { events in
                    if renamed {
                        try FileManager.default.moveItem(atPath: watched, toPath: path + "/moved")
                    } else {
                        try FileManager.default.removeItem(atPath: watched)
                    }
                    for try await _ in events {}
                }
            }
            #expect(error?.code == .directoryGone)
        }
    }

    @Test("What cannot be watched is an error that says why")
    func noDirectory() async throws {
        try await withDirectory { path in
            try write("x", to: path + "/file")
            for (name, word) in [("none", "there is no directory"), ("file", "is not a directory")] {
                let error = await #expect(throws: DesktopError.self) {
                    try await DirectoryWatch.withEvents(of: "\(path)/\(name)") { _ in }
                }
                #expect(error?.code == .noDirectory)
                #expect(error?.message.contains(word) == true)
            }
        }
    }

    @Test("Names that are no UTF-8, and odd ones, end nothing")
    func oddNames() async throws {
        try await withDirectory { path in
            try await DirectoryWatch.withEvents(of: path) { events in
                var told = Told(events)
                try write("x", to: path + "/a \u{1B}[31m\nb")
                try await told.wait(for: .complete("a \u{1B}[31m\nb"))
                let latin = Array(path.utf8) + Array("/caf".utf8) + [0xE9, 0]
                let file = latin.map(CChar.init(bitPattern:)).withUnsafeBufferPointer {
                    creat($0.baseAddress!, 0o600)
                }
                try #require(file >= 0)
                #expect(close(file) == 0)
                try await told.wait(for: .complete("caf\u{FFFD}"))
            }
        }
    }
}
