import FoundationEssentials
import Glibc
import Testing

/// The command line that `pairtool` sees to itself, and what it becomes for all others.
@Suite(.timeLimit(.minutes(2))) struct PictureDrawingTests {
    private static let payload =
        "/" + #filePath.split(separator: "/").dropLast(3).joined(separator: "/") + "/samples/payload-good.json"

    /// A copy of `pairtool` alone, with programs beside it that only say which of them it became, and with which words.
    private static func copy(in user: Sandbox, beside names: [String] = ["quick", "full"]) throws -> String {
        let copy = user.directory + "/pairtool"
        try FileManager.default.copyItem(atPath: BuiltTool.path, toPath: copy)
        for name in names {
            let script = copy + "-" + name
            try Data("#!/bin/sh\nprintf '%s\\n' \(name) \"$@\"\n".utf8).write(to: URL(filePath: script))
            try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: script)
        }
        return copy
    }

    @Test(
        "It draws what the program with all commands draws, to the byte, and says the same",
        arguments: [1, 3, 8, 64]
    )
    func same(scale: Int) async throws {
        try await Sandbox.with { user in
            let alone = try Self.copy(in: user)
            let picture = user.directory + "/a.PNG"
            for size in [1, 136, 500, 2_331, 2_332, 2_953] {
                let file = user.directory + "/text"
                try Data((0..<size).map { UInt8(truncatingIfNeeded: $0 * 37 + size) }).write(to: URL(filePath: file))
                let line = ["qr", file, "--output", picture, "--scale", "\(scale)"]
                let drawn = try await ProgramOutcome.of(alone, line, user)
                let own = try Data(contentsOf: URL(filePath: picture))
                #expect(drawn.status == 0 && drawn.out.isEmpty)
                #expect(drawn.err == "Wrote \(picture) (\(own.count) bytes, readable by you alone).\n")
                #expect(try await ProgramOutcome.of(BuiltTool.fullPath, line, user) == drawn)
                #expect(try Data(contentsOf: URL(filePath: picture)) == own)
                let mode = try FileManager.default.attributesOfItem(atPath: picture)[.posixPermissions] as? Int
                #expect(mode == 0o600)
            }
        }
    }

    @Test("A line end is no part of the text")
    func lineEnd() async throws {
        try await Sandbox.with { user in
            var pictures: Set<Data> = []
            for text in ["a text", "a text\n", "a text\r\n"] {
                try Data(text.utf8).write(to: URL(filePath: user.directory + "/text"))
                let line = ["qr", user.directory + "/text", "-o", user.directory + "/a.png"]
                #expect(try await ProgramOutcome.of(BuiltTool.path, line, user).status == 0)
                pictures.insert(try Data(contentsOf: URL(filePath: user.directory + "/a.png")))
            }
            #expect(pictures.count == 1)
        }
    }

    @Test(
        "What goes another way than from a file to a picture is left to the program with all commands, untouched",
        arguments: [
            [], ["qr"], ["qr", "text"], ["qr", "-o", "a.png"], ["qr", "-", "-o", "a.png"], ["qr", "text", "-o", "-"],
            ["qr", "text", "-o", "a.svg"], ["qr", "text", "-o", "a.jpg"],
            ["qr", "text", "-o", "a.png", "--scale", "65"], ["qr", "text", "-o", "a.png", "--scale", "0"],
            ["qr", "text", "-o", "a.png", "--scale", "+3"], ["qr", "text", "-o", "a.png", "--scale"],
            ["qr", "text", "-o", "a.png", "--scale", ""], ["qr", "text", "-o", "a.png", "--scale", "123"],
            ["qr", "text", "more", "-o", "a.png"], ["qr", "text", "-o", "a.png", "--json"],
            ["qr", "text", "-o", "a.png", "-o", "b.png"], ["qr", "text", "-o", "a.png", "--level", "H"],
            ["qr", "text", "-o", "--json"], ["qr", "", "-o", "a.png"], ["qr", "nowhere", "-o", "a.png"],
            ["qr", ".", "-o", "a.png"], ["qr", "pipe", "-o", "a.png"], ["qr", "empty", "-o", "a.png"],
            ["qr", "long", "-o", "a.png"], ["qr", "text", "-o", "link.png"], ["qr", "text", "-o", "nowhere/a.png"],
            ["qr", "text", "-o", "folder.png"], ["qr", "text", "-o", "ä.png"], ["hosts"], ["--help"],
            ["--version", "-q"],
        ]
    )
    func left(words: [String]) async throws {
        try await Sandbox.with { user in
            let alone = try Self.copy(in: user)
            let files = FileManager.default
            for (name, count) in [("text", 5), ("empty", 0), ("long", 3_000)] {
                try Data(repeating: 65, count: count).write(to: URL(filePath: user.directory + "/" + name))
            }
            #expect(mkfifo(user.directory + "/pipe", 0o600) == 0)
            try files.createDirectory(atPath: user.directory + "/folder.png", withIntermediateDirectories: false)
            try files.createSymbolicLink(atPath: user.directory + "/link.png", withDestinationPath: "target.png")
            let before = try files.contentsOfDirectory(atPath: user.directory).sorted()
            let isName = { (word: String) in word.contains(".") || before.contains(word) || word == "nowhere" }
            let line = words.map { isName($0) ? user.directory + "/" + $0 : $0 }
            let outcome = try await ProgramOutcome.of(alone, line, user)
            let name = words.first == "--version" ? "quick" : "full"
            #expect(outcome == ProgramOutcome(out: ([name] + line).map { $0 + "\n" }.joined(), err: "", status: 0))
            #expect(try files.contentsOfDirectory(atPath: user.directory).sorted() == before)
        }
    }

    @Test("What standard output goes to is not replaced, and nothing is drawn where a descriptor is missing")
    func redirected() async throws {
        try await Sandbox.with { user in
            let alone = try Self.copy(in: user)
            let picture = user.directory + "/a.png"
            for redirection in [">'\(picture)'", "<&-", "2>&-"] {
                let command = "'\(alone)' qr '\(Self.payload)' -o '\(picture)' \(redirection)"
                let outcome = try await ProgramOutcome.of("/bin/sh", ["-c", command], user)
                let written = try? String(contentsOf: URL(filePath: picture), encoding: .utf8)
                #expect((written ?? outcome.out) == "full\nqr\n\(Self.payload)\n-o\n\(picture)\n", "\(redirection)")
                try? FileManager.default.removeItem(atPath: picture)
            }
        }
    }

    @Test("In a terminal, a pairing code is left to the program that says its digits; other text is drawn")
    func terminal() async throws {
        try await Sandbox.with { user in
            let alone = try Self.copy(in: user)
            let text = user.directory + "/text"
            try Data("a text".utf8).write(to: URL(filePath: text))
            for (file, said) in [(Self.payload, "full"), (text, "Wrote ")] {
                let command = "'\(alone)' qr '\(file)' -o '\(user.directory)/a.png'"
                let outcome = try await ProgramOutcome.of("/usr/bin/script", ["-qec", command, "/dev/null"], user)
                #expect(outcome.out.hasPrefix(said) && outcome.status == 0, "\(outcome)")
            }
        }
    }

    @Test("Codes and hosts are the quick program's, and all that cannot be run is told")
    func successors() async throws {
        try await Sandbox.with { user in
            let alone = try Self.copy(in: user, beside: ["quick"])
            for words in [["scan", "a.png"], ["discover"], ["--version"], ["hosts"], ["qr", "a"], []] {
                let outcome = try await ProgramOutcome.of(alone, words, user)
                #expect(outcome.out == (["quick"] + words).map { $0 + "\n" }.joined())
            }
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: alone + "-quick")
            let denied = try await ProgramOutcome.of(alone, ["scan", "a.png"], user)
            #expect(denied.err.hasPrefix("pairtool: pairtool-quick cannot be run: Permission denied\n"), "\(denied)")
            try FileManager.default.removeItem(atPath: alone + "-quick")
            let text = try await ProgramOutcome.of(alone, ["scan", "a.png"], user)
            let reason = "pairtool-quick cannot be run: No such file or directory"
            let next = "install again: scripts/install"
            #expect(text == ProgramOutcome(out: "", err: "pairtool: \(reason)\n  next: \(next)\n", status: 1))
            let json = try await ProgramOutcome.of(alone, ["hosts", "--json"], user)
            #expect(
                json.err == #"{"error":{"code":"installation.incomplete","exitStatus":1,"message":""# + reason
                    + #"","next":""# + next + "\"}}\n"
            )
            #expect(json.status == 1 && json.out.isEmpty)
        }
    }

    @Test("Installed, it finds the others where they are then")
    func installed() async throws {
        try await Sandbox.with { user in
            let alone = try Self.copy(in: user)
            let files = FileManager.default
            for folder in ["bin", "libexec/pairtool"] {
                try files.createDirectory(atPath: user.directory + "/" + folder, withIntermediateDirectories: true)
            }
            try files.moveItem(atPath: alone, toPath: user.directory + "/bin/pairtool")
            for name in ["pairtool-quick", "pairtool-full"] {
                try files.moveItem(
                    atPath: user.directory + "/" + name,
                    toPath: user.directory + "/libexec/pairtool/" + name
                )
            }
            let found = try await ProgramOutcome.of(user.directory + "/bin/pairtool", ["scan", "a.png"], user)
            #expect(found.out == "quick\nscan\na.png\n")
            let all = try await ProgramOutcome.of(user.directory + "/bin/pairtool", ["hosts"], user)
            #expect(all.out == "full\nhosts\n")
        }
    }
}
