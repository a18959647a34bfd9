import Foundation
import Glibc
import LocalState
import Testing

@Suite struct RealPathTests {
    @Test("A path is resolved to what is there; one that text cannot name is none")
    func resolved() throws {
        let base = try #require(RealPath.of(FileManager.default.temporaryDirectory.path))
        let directory = base + "/pairtool-real-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: directory + "/beds", withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: directory) }
        #expect(symlink("beds", directory + "/link") == 0)
        #expect(RealPath.of(directory + "/link/./../link") == directory + "/beds")
        #expect(RealPath.of(directory + "/none") == nil && errno == ENOENT)
        // It would be read up to the zero.
        #expect(RealPath.of(directory + "/beds\0/none") == nil && errno == EINVAL)
        // Repaired, it would be another name.
        let odd = Array((directory + "/").utf8.map(CChar.init)) + [CChar(bitPattern: 0xFF), 0]
        #expect(mkdir(odd, 0o700) == 0 && symlink([CChar(bitPattern: 0xFF), 0], directory + "/odd") == 0)
        #expect(RealPath.of(directory + "/odd") == nil && errno == EILSEQ)
    }

    @Test(
        "A directory has itself in it, and what is below it by whole names",
        arguments: [
            ("/a/b", "/a/b", true), ("/a/b/c", "/a/b", true), ("/a/bc", "/a/b", false), ("/a", "/a/b", false),
            ("/a", "/", true), ("/", "/", true), ("/", "/a", false), ("/a/\u{e9}", "/a/e\u{301}", false),
        ]
    )
    func inside(path: String, directory: String, isInside: Bool) {
        #expect(RealPath.isInside(path, of: directory) == isInside)
    }
}
