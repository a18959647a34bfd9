import Foundation
import PNGFiles
import Testing

/// What the built program does against somebody who finds a hole in it.
@Suite struct HardeningTests {
    @Test("The tables that lead to libraries are read-only once the program runs (full RELRO)")
    func relro() async throws {
        try await Sandbox.with { user in
            let read = try await user.shell("LC_ALL=C readelf -lWd '\(BuiltTool.path)'")
            let lines = read.out.split(separator: "\n")
            #expect(lines.contains { $0.contains("GNU_RELRO") }, "\(read)")
            #expect(lines.contains { $0.contains("(FLAGS_1)") && $0.contains("NOW") }, "\(read)")
        }
    }

    /// A program that waits for a picture from a pipe, as it is ended by a signal that has others leave a core dump.
    private static func aborted(_ command: String) -> String {
        """
        ulimit -c unlimited && mkfifo pipe || exit 1
        \(command) > /dev/null &
        exec 3> pipe
        kill -ABRT $!
        wait $!
        """
    }

    /// What the shell says of a program that is ended so; that no dump was left is no failure of pairtool's.
    private static let dumped: String = {
        let shell = Process()
        let errors = Pipe()
        shell.executableURL = URL(filePath: "/bin/sh")
        shell.arguments = ["-c", aborted("cat pipe")]
        let directory = FileManager.default.temporaryDirectory.path + "/pairtool-dumps-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: directory) }
        try? FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        shell.currentDirectoryURL = URL(filePath: directory)
        shell.standardError = errors
        do {
            try shell.run()
        } catch {
            return "\(error)"
        }
        return String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    }()

    private static let leavesDumps = dumped.contains("core dumped")

    @Test(
        "A program that holds keys or codes leaves no core dump",
        .enabled(if: leavesDumps, "nothing leaves one here: \(dumped)"),
        arguments: ["scan pipe", "pair --qr pipe"]
    )
    func coreDump(words: String) async throws {
        try await Sandbox.with { user in
            let ended = try await user.shell(Self.aborted("'\(BuiltTool.path)' \(words)"))
            #expect(ended.status == 128 + SIGABRT, "\(ended)")
            #expect(!ended.err.contains("core dumped"), "\(ended)")
            let names = try FileManager.default.contentsOfDirectory(atPath: user.directory)
            #expect(names.filter { $0.hasPrefix("core") } == [])
        }
    }

    @Test("A host that runs leaves no core dump", .enabled(if: leavesDumps, "nothing leaves one here: \(dumped)"))
    func hostCoreDump() async throws {
        try await Sandbox.with { user in
            let ended = try await user.shell(
                """
                ulimit -c unlimited && mkdir project && mkfifo events || exit 1
                '\(BuiltTool.path)' host --project project --port 0 --engine embedded --interface lo --json > events &
                exec 3< events
                read -r line <&3
                kill -ABRT $!
                wait $!
                """
            )
            #expect(ended.status == 128 + SIGABRT, "\(ended)")
            #expect(!ended.err.contains("core dumped"), "\(ended)")
            let names = try FileManager.default.contentsOfDirectory(atPath: user.directory)
            #expect(names.filter { $0.hasPrefix("core") } == [])
        }
    }

    /// "ąęł", and in front of it that its alphabet is ISO 8859-2 (ISO/IEC 18004, 7.4.2): the C library reads the tables
    /// of that from a file.
    private static let named = """
        #######..#.##.#######
        #.....#..###..#.....#
        #.###.#.##.##.#.###.#
        #.###.#..#.#..#.###.#
        #.###.#...#.#.#.###.#
        #.....#.....#.#.....#
        #######.#.#.#.#######
        ........##.##........
        ###.########.##...#..
        ..##.#..#.....#..##.#
        ..#...##.##.#...##..#
        .#.##.....#...#..#.#.
        .#..#.#.##..#.#.###.#
        ........#..#.#.#..##.
        #######.####.###...##
        #.....#.##.###.#####.
        #.###.#.#..#.###...##
        #.###.#..#....##.###.
        #.###.#.#.#.#...##..#
        #.....#.##....##.#..#
        #######.##..#.#.##.##
        """

    @Test("What decodes pictures may not open files, and alphabets whose tables are files are read all the same")
    func alphabet() async throws {
        let rows = Self.named.split(separator: "\n").map { "...." + $0 + "...." }
        let margin = [String](repeating: String(repeating: ".", count: rows[0].count), count: 4)
        let modules = (margin + rows + margin).map { Array($0) }
        try await Sandbox.with { user in
            let side = 4 * modules.count
            let picture = PNGWriter(width: side, height: side).file { x, y in [modules[y / 4][x / 4] == "#" ? 0 : 255] }
            let path = try user.file("named.png", picture)
            let found = try await user.spawn(["scan", path, "--json"])
            #expect(try found.json.first?["description"]?.string == "plain text", "\(found)")
        }
    }
}
