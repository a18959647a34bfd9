import FoundationEssentials
import LocalState
import Testing

@Suite struct FileLockTests {
    private let path = FileManager.default.temporaryDirectory.path + "/lock-tests-\(UUID().uuidString)/lock"

    private func remove() {
        try? FileManager.default.removeItem(atPath: PrivateFile.directory(of: path))
    }

    @Test("A lock that is held is not free, and is free again once it is released")
    func free() throws {
        defer { remove() }
        var lock = try FileLock.take(ifFree: path)
        #expect(lock != nil)
        #expect(try FileLock.take(ifFree: path) == nil)
        lock = nil
        #expect(try FileLock.take(ifFree: path) != nil)
        #expect(FileStatus(path)?.permissions == 0o600)
    }

    @Test("Whoever waits for a lock is told so once, and gets it when it is released")
    func waiting() async throws {
        defer { remove() }
        let (waits, waiting) = AsyncStream.makeStream(of: Void.self)
        var lock = try FileLock.take(ifFree: path)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { [path] in
                try await FileLock.with(path, onWait: { waiting.yield() }) { _ in waiting.finish() }
            }
            var calls = 0
            for await _ in waits {
                calls += 1
                #expect(try lock != nil && FileLock.take(ifFree: path) == nil)
                lock = nil
            }
            #expect(calls == 1)
            try await group.waitForAll()
        }
    }

    @Test("A waiter can be cancelled")
    func cancelled() async throws {
        defer { remove() }
        let lock = try FileLock.take(ifFree: path)
        let (waits, waiting) = AsyncStream.makeStream(of: Void.self)
        let task = Task { [path] in try await FileLock.with(path, onWait: { waiting.yield() }) { _ in } }
        for await _ in waits { break }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        withExtendedLifetime(lock) {}
    }

    @Test("A symbolic link is not followed")
    func link() throws {
        defer { remove() }
        try PrivateFile.makeDirectory(PrivateFile.directory(of: path))
        try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: path + ".other")
        #expect(throws: PrivateFile.Failure.self) { try FileLock.take(ifFree: path) }
        #expect(FileStatus(path + ".other") == nil)
    }
}
