import FoundationEssentials
import Glibc
import PNGFiles
import QRCodec
import Testing

@testable import pairtool

/// `pairtool scan --watch`, with the built binary and a real directory.
@Suite(.timeLimit(.minutes(15))) struct ScanWatchTests {
    private static let payload =
        #"{"protocol":"copilotforge-pair-v1","code":"482913","token":"sample-token","expiresAt":"2099-12-31T23:59:59.000Z"}"#

    private func png(_ text: String = Self.payload) throws -> [UInt8] {
        try QRSymbol(bytes: Array(text.utf8)).png()
    }

    /// Runs the tool while a body puts files into the directory, whose path it gets.
    private func watching(
        _ arguments: [String] = [],
        before: (Sandbox) throws -> Void = { _ in },
        _ body: @escaping @Sendable (Sandbox, String, Follower) async throws -> Void
    ) async throws -> Sandbox.Result {
        try await Sandbox.with { user in
            let directory = user.directory + "/shots"
            try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: false)
            try before(user)
            return try await user.follow(["scan", "--watch", directory, "--json"] + arguments) { process in
                try await process.messages.has("Watching")
                try await body(user, directory, process)
            }.result
        }
    }

    @Test("A picture that is saved is read, and the first code ends the wait; what was there before is left alone")
    func saved() async throws {
        let good = try png()
        let result = try await watching(before: { _ = try $0.file("shots/old.png", good) }) { user, directory, _ in
            _ = try user.file("shots/new.png", good)
        }
        #expect(result.status == 0, "\(result)")
        let rows = try result.json
        #expect(rows.count == 1)
        #expect(rows.first?["file"]?.string?.hasSuffix("/shots/new.png") == true)
        #expect(!result.out.contains("482913") && !result.out.contains("sample-token"))
    }

    @Test("What was there before is read with --existing")
    func existing() async throws {
        let good = try png()
        let result = try await watching(["--existing"], before: { _ = try $0.file("shots/old.png", good) }) { _, _, _ in
        }
        #expect(result.status == 0)
        #expect(try result.json.first?["file"]?.string?.hasSuffix("old.png") == true)
    }

    @Test("A picture that is written in pieces, closed in between, is read once, when it is whole")
    func pieces() async throws {
        let good = try png()
        let result = try await watching { _, directory, _ in
            // At once: what stays in pieces for two seconds is told of.
            let third = good.count / 3
            for piece in [good[..<third], good[third..<2 * third], good[(2 * third)...]] {
                let file = try #require(fopen("\(directory)/a.png", "a"))
                #expect(fwrite(Array(piece), 1, piece.count, file) == piece.count)
                fclose(file)
            }
        }
        #expect(result.status == 0, "\(result)")
        #expect(try result.json.count == 1)
        #expect(!result.err.contains("warning"), "a part of a picture is no news: \(result.err)")
    }

    @Test("A picture under a temporary name is read when it is renamed, and --keep goes on to the next")
    func renamed() async throws {
        let good = try png()
        let other = try png(Self.payload.replacing("482913", with: "111111"))
        let result = try await watching(["--keep", "--show-secrets"]) { user, directory, process in
            _ = try user.file("shots/a.png.part", good)
            _ = try user.file("shots/.b.png", other)
            #expect(try await user.shell("mv shots/a.png.part shots/a.png").status == 0)
            _ = try await process.events.firstLine("the first") { $0["code"]?.string == "482913" }
            #expect(try await user.shell("mv shots/.b.png shots/b.png").status == 0)
            _ = try await process.events.firstLine("the second") { $0["code"]?.string == "111111" }
            try process.interrupt()
        }
        #expect(result.status == 130)
        #expect(try result.json.count == 2)
    }

    @Test("What is no picture of a code is told of, sanitised, and the wait goes on")
    func foreign() async throws {
        let good = try png()
        let foreign = try png("https://example.org/")
        let result = try await watching { user, directory, process in
            _ = try user.file("shots/\u{1B}[31mred.png", Array(good.prefix(good.count / 2)))
            _ = try user.file("shots/blank.png", PNGWriter(width: 8, height: 8).file { _, _ in [255] })
            _ = try user.file("shots/notes.txt", Array("milk".utf8))
            _ = try user.file("shots/web.png", foreign)
            try await process.messages.has("blank.png: no QR code")
            try await process.messages.has("notes.txt")
            try await process.messages.has("red.png")
            _ = try user.file("shots/good.png", good)
        }
        #expect(result.status == 0, "\(result)")
        #expect(try result.json.map { $0["kind"]?.string } == ["foreign", "pairing"])
        #expect(!result.err.contains("\u{1B}"))
    }

    @Test("A directory that goes away, one that is none, and time that is over are errors of their own")
    func ends() async throws {
        let gone = try await watching { user, directory, _ in
            let removed = try await user.shell("rm -r shots")
            #expect(removed.status == 0)
        }
        #expect(gone.status == 1)
        #expect(gone.failed(with: "desktop.directory_gone"))
        let late = try await watching(["--timeout", "0.05s"]) { _, _, _ in }
        #expect(late.status == 4)
        try await Sandbox.with { user in
            let none = await user.run("scan", "--watch", user.directory + "/none", "--json")
            #expect(none.status == 3)
            #expect(none.failed(with: "desktop.no_directory"))
        }
    }

    @Test("Sources that exclude each other, and options without theirs, are refused")
    func usage() async throws {
        try await Sandbox.with { user in
            for arguments in [
                [], ["a.png", "--watch", "x"], ["--screen", "--clipboard"], ["a.png", "--keep"],
                ["--screen", "--timeout", "3s"], ["a.png", "--existing"],
            ] {
                #expect(await user.run(["scan"] + arguments).status == 2, "\(arguments)")
            }
            #expect(await user.run("pair", "--qr", "a.png", "--screen").status == 2)
        }
    }

    @Test("pair --watch pairs with the code of which a picture is saved")
    func pair() async throws {
        try await withProject { host, user in
            let project = ["--project", host.directory + "/garden", "--name", "Shed"]
            try await withRunningHost(host, project) { events in
                let payload = try #require(try await events.first("challenge")["qrPayload"]?.string)
                let directory = user.directory + "/shots"
                try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: false)
                let pair = ["pair", "--watch", directory, "--name", "desk", "--json"]
                let result = try await user.follow(pair) { process in
                    try await process.messages.has("Waiting for a picture")
                    _ = try user.file("shots/web.png", try QRSymbol(bytes: Array("https://example.org/".utf8)).png())
                    try await process.messages.has("no pairing code")
                    _ = try user.file("shots/code.png", try QRSymbol(bytes: Array(payload.utf8)).png())
                }.result
                #expect(result.status == 0, "\(result)")
                #expect(try result.json[0]["trust"]?.string == "verified")
            }
        }
    }
}
