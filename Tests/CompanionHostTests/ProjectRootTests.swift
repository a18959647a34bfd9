import CompanionWire
import FoundationEssentials
import Glibc
import Identity
import Testing

@testable import CompanionHost

@Suite("Nothing is opened outside of a project", .timeLimit(.minutes(15)))
struct ProjectRootTests {
    /// Pieces that names and paths are made of: some join with their neighbours to one character.
    private static let pieces = [
        "a", "b", "e\u{301}", "\u{E9}", "\u{600}", "\u{110BD}", "\u{301}", "\u{200D}", "\u{FE0F}", ".", "..", "/", "//",
        "\n", "\\", "\"", "~", " ", "\u{202E}", "\u{1F468}\u{200D}\u{1F469}", "%2f", "\u{2215}", "\r\n", "\u{212A}",
    ]

    /// The same numbers in every run.
    private struct Numbers: RandomNumberGenerator {
        var state: UInt64 = 14

        mutating func next() -> UInt64 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return state ^ (state >> 29)
        }
    }

    /// A project with directories, files, and links that lead in and out, all with generated names, and the paths to
    /// try.
    private static func fill(_ directory: String, _ numbers: inout Numbers) throws -> [String] {
        try write("secret", to: directory + "/secret")
        try write("inner", to: directory + "/project/a/b/secret")
        var names = ["a", "b", "secret", "..", ".", "project", "etc", "passwd", "\u{600}", "up\u{600}"]
        try link("..", at: directory + "/project/up\u{600}")
        try link("/", at: directory + "/project/\u{600}")
        for number in 0..<300 {
            let name = (0...Int.random(in: 0...3, using: &numbers)).map { _ in
                pieces.randomElement(using: &numbers) ?? ""
            }.joined()
            names.append(name)
            // Some are no names, and some are there.
            let path = directory + ["/project/", "/project/a/", "/project/a/b/"][number % 3] + name
            guard ProjectRoot.isName(name) else { continue }
            switch number % 7 {
            case 0: _ = mkdir(path, 0o700)
            case 1: try? write("text", to: path)
            case 2: _ = symlink("/", path)
            case 3: _ = symlink("../../..", path)
            case 4: _ = symlink("a/b", path)
            case 5: _ = symlink(directory + "/project/a", path)
            default: _ = symlink("../" + (names.randomElement(using: &numbers) ?? ""), path)
            }
        }
        return (0..<6000).map { _ in
            let parts = (0...Int.random(in: 0...4, using: &numbers)).map { _ in
                names.randomElement(using: &numbers) ?? ""
            }
            return parts.joined(
                separator: ["/", "/", "/\u{301}", "\u{600}/", ""].randomElement(using: &numbers) ?? "/"
            )
        }
    }

    /// Where a descriptor leads, by the kernel's word.
    private static func path(of descriptor: Int32) throws -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: 8192)
        let count = readlink("/proc/self/fd/\(descriptor)", &bytes, bytes.count)
        try #require(count > 0)
        return Array(bytes[..<count])
    }

    @Test(
        "Whatever a path is made of, what is opened lies below the project",
        arguments: ProjectRoot.PathResolution.allCases
    )
    func generated(resolution: ProjectRoot.PathResolution) async throws {
        try #require(resolution == .byName || ProjectRoot.PathResolution.usual == .kernel, "this kernel has no openat2")
        try await withTemporaryDirectory { directory in
            var numbers = Numbers()
            let root = directory + "/project"
            let paths = try Self.fill(directory, &numbers)
            let files = try ProjectFiles(path: root, by: resolution)
            let opener = try ProjectRoot(path: root, by: resolution)
            let inside = Array((root + "/").utf8)
            var opened = Set<[UInt8]>()
            func check(_ descriptor: Int32, _ text: String) throws {
                defer { close(descriptor) }
                let path = try Self.path(of: descriptor)
                opened.insert(path)
                guard !path.starts(with: inside), path != Array(root.utf8) else { return }
                Issue.record("\(text.debugDescription) opened \(String(decoding: path, as: UTF8.self))")
            }
            for path in paths {
                let names = try? files.names(path)
                // As it is split for the explorer, and in pieces that nobody has looked at.
                for names in [names ?? [], [path], path.split(separator: "/").map(String.init)] {
                    for flags in [ProjectRoot.lookOnly, O_RDONLY | O_NONBLOCK, O_RDONLY | O_DIRECTORY] {
                        if let file = try? opener.open(names, flags: flags) { try check(file, path) }
                    }
                }
                guard let names, !names.isEmpty else { continue }
                if let (bytes, _) = try? files.read(names, limit: 100) {
                    #expect(
                        ["text", "inner"].contains(String(decoding: bytes, as: UTF8.self)),
                        "\(path.debugDescription)"
                    )
                }
            }
            #expect(opened.count > 20)
        }
    }

    @Test(
        "A link that leads out is not followed, wherever it stands in a path",
        arguments: ProjectRoot.PathResolution.allCases,
        ["..", "/", "../..", "../secret", "/proc/self/root", "/proc/self/cwd", "in/../..", "absolute"]
    )
    func links(resolution: ProjectRoot.PathResolution, target: String) async throws {
        try await withTemporaryDirectory { directory in
            let root = directory + "/project"
            try write("secret", to: directory + "/secret")
            try write("x", to: root + "/in/file")
            // What lies inside by an absolute path is not followed either: the kernel starts at its own root.
            try link(target == "absolute" ? root + "/in" : target, at: root + "/door")
            try link("door", at: root + "/second")
            let opener = try ProjectRoot(path: root, by: resolution)
            for names in [["door"], ["second"], ["door", "secret"], ["in", "file"].map { _ in "door" }] {
                for flags in [O_RDONLY | O_NONBLOCK, O_RDONLY | O_DIRECTORY] {
                    #expect(throws: ProjectRoot.Failure.self, "\(names)") { try opener.open(names, flags: flags) }
                }
            }
            let file = try opener.open(["in", "file"], flags: O_RDONLY)
            close(file)
        }
    }

    @Test(
        "What is no name is refused before the kernel is asked",
        arguments: ["", ".", "..", "/", "a/b", "\u{600}/", "/\u{301}", "a\0b", "..\u{600}/x"]
    )
    func names(name: String) {
        #expect(!ProjectRoot.isName(name))
    }

    @Test("Two spellings of a name are two directories, and one that is listed does not show the other")
    func spellings() async throws {
        try await withTemporaryDirectory { directory in
            let (composed, decomposed) = (directory + "/caf\u{E9}", directory + "/cafe\u{301}")
            try write("listed", to: composed + "/file")
            try write("hidden", to: decomposed + "/file")
            let catalog = try ProjectCatalog(paths: [composed])
            #expect(catalog.locate(composed)?.directory.isSame(as: composed) == true)
            #expect(catalog.locate(composed + "/../caf\u{E9}/.")?.directory.isSame(as: composed) == true)
            #expect(catalog.locate(decomposed) == nil)
            #expect(catalog.project(path: decomposed) == nil)
            let both = try ProjectCatalog(paths: [composed, decomposed, composed + "/."])
            #expect(both.projects.count == 2)
            #expect(both.locate(decomposed)?.project.path.isSame(as: decomposed) == true)
        }
    }

    @Test("The innermost project is found, also at the root of the file system")
    func innermost() async throws {
        try await withTemporaryDirectory { directory in
            try write("x", to: directory + "/a/b/c/file")
            try write("x", to: directory + "/ab/file")
            let catalog = try ProjectCatalog(paths: [directory + "/a", directory + "/a/b"])
            #expect(catalog.locate(directory + "/a/b/c")?.project.path == directory + "/a/b")
            #expect(catalog.locate(directory + "/a")?.project.path == directory + "/a")
            #expect(catalog.locate(directory + "/ab") == nil && catalog.locate(directory) == nil)
            #expect(catalog.locate("/") == nil && catalog.locate("") == nil)
            #expect(try ProjectCatalog(paths: ["/"]).locate(directory)?.project.path == "/")
        }
    }
}
