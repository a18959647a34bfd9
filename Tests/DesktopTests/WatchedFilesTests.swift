import Desktop
import Testing

/// When a file in a watched directory counts as complete.
@Suite struct WatchedFilesTests {
    private let start = ContinuousClock.now

    private func at(_ milliseconds: Int) -> ContinuousClock.Instant {
        start + .milliseconds(milliseconds)
    }

    private func signature(_ size: Int) -> WatchedFiles.Signature {
        WatchedFiles.Signature(size: size, modified: 1, number: 1)
    }

    @Test("A file that is closed is complete once it was left alone for a moment, and is told once")
    func closed() {
        var files = WatchedFiles()
        files.take(.created("a.png"), now: at(0))
        files.take(.written("a.png"), now: at(1))
        files.take(.closed("a.png"), now: at(10))
        #expect(files.due(now: at(100)) == [])
        #expect(files.nextDue == at(160))
        #expect(files.due(now: at(160)) == [.complete("a.png")])
        #expect(files.due(now: at(170)) == [])
    }

    @Test("A file that is closed and opened again waits for the last close")
    func pieces() {
        var files = WatchedFiles()
        files.take(.closed("a.png"), now: at(0))
        files.take(.written("a.png"), now: at(100))
        #expect(files.due(now: at(5000)) == [], "it is being written, however long that takes")
        #expect(files.nextDue == nil)
        files.take(.closed("a.png"), now: at(6000))
        files.take(.closed("a.png"), now: at(6100))
        #expect(files.due(now: at(6200)) == [])
        #expect(files.due(now: at(6250)) == [.complete("a.png")])
    }

    @Test("A file that was told and then changes is told again, and is quiet only when nothing happens any more")
    func again() {
        var files = WatchedFiles()
        files.take(.closed("a.png"), now: at(0))
        #expect(files.due(now: at(150)) == [.complete("a.png")])
        files.take(.closed("a.png"), now: at(1000))
        #expect(files.due(now: at(1150)) == [.complete("a.png")])
        #expect(files.due(now: at(3149)) == [])
        #expect(files.due(now: at(3150)) == [.quiet("a.png")])
        #expect(files.nextDue == nil)
    }

    @Test("A file that is renamed into place is complete at once, and so, a little later, is a hard link")
    func renamed() {
        var files = WatchedFiles()
        files.take(.renamedIntoPlace("a.png"), now: at(0))
        files.take(.created("link.png"), now: at(0))
        #expect(files.due(now: at(0)) == [.complete("a.png")])
        #expect(files.due(now: at(1000)) == [.complete("link.png")])
    }

    @Test("A file that goes before it is complete is not told")
    func gone() {
        var files = WatchedFiles()
        files.take(.closed("a.png"), now: at(0))
        files.take(.gone("a.png"), now: at(10))
        #expect(files.due(now: at(5000)) == [])
    }

    @Test(
        "Names that programs give to unfinished files are nothing until they are renamed",
        arguments: [".a.png.Xy12", "a.png~", "a.png.part", "a.crdownload", "A.TMP"]
    )
    func temporary(name: String) {
        var files = WatchedFiles()
        for change in [WatchedFiles.Change.created(name), .written(name), .closed(name), .renamedIntoPlace(name)] {
            files.take(change, now: at(0))
        }
        #expect(files.due(now: at(5000)) == [])
        files.take(.gone(name), now: at(5000))
        files.take(.renamedIntoPlace("a.png"), now: at(5000))
        #expect(files.due(now: at(5000)) == [.complete("a.png")])
    }

    @Test("Where changes were missed, what is new or different is told, and nothing else")
    func compared() {
        var files = WatchedFiles(known: ["old": signature(1), "changed": signature(1), "left": signature(1)])
        files.take(.written("lost"), now: at(0))
        files.compare(
            ["old": signature(1), "changed": signature(2), "new": signature(3), ".hidden": signature(4)],
            now: at(0)
        )
        #expect(files.due(now: at(200)) == [.complete("changed"), .complete("new")])
        files.note("changed", signature: signature(2))
        files.note("new", signature: signature(3))
        _ = files.due(now: at(5000))
        files.compare(["old": signature(1), "changed": signature(2), "new": signature(3)], now: at(6000))
        #expect(files.due(now: at(9000)) == [])
        #expect(files.nextDue == nil, "what was being written and is gone is forgotten")
    }
}
