import CompanionTestSupport
import FoundationEssentials
import QRCodec
import Testing

@testable import pairtool

/// Frames from files, pipes and a camera that is a file.
@Suite(.serialized, .timeLimit(.minutes(15))) struct FrameScanTests {
    private static let good =
        #"{"protocol":"copilotforge-pair-v1","code":"482913","token":"sample-token","expiresAt":"2099-12-31T23:59:59.000Z"}"#

    /// The shades of a frame that shows codes beside one another, 640 × 480.
    private func shades(_ texts: [String]) throws -> [UInt8] {
        let symbols = try texts.map { try QRSymbol(smallest: Array($0.utf8), atLeast: .low) }
        return (0..<480).flatMap { y in
            (0..<640).map { x -> UInt8 in
                guard !symbols.isEmpty, x / 320 < symbols.count else { return 200 }
                return symbols[x / 320][x % 320 / 5 - 3, y / 5 - 8] ? 30 : 200
            }
        }
    }

    private func y4m(_ frames: [[String]]) throws -> [UInt8] {
        try frames.reduce(into: Array("YUV4MPEG2 W640 H480 F30:1 C420jpeg\n".utf8)) { stream, texts in
            try stream += Array("FRAME\n".utf8) + shades(texts) + [UInt8](repeating: 128, count: 320 * 240 * 2)
        }
    }

    @Test("Two frames with the same code are a finding, from a file as from a pipe")
    func found() async throws {
        try await Sandbox.with { user in
            let file = try user.file("good.y4m", try y4m([[], [Self.good], [], [Self.good]]))
            let result = await user.run(["scan", "--frames", file, "--json"])
            #expect(result.status == 0, "\(result.err)")
            let row = try #require(try result.json.first)
            #expect(row["kind"]?.string == "pairing" && row["file"]?.string == file)
            #expect(!result.out.contains("482913"))
            // Of a pipe that is faster than we look, frames are left out, but never the last two.
            _ = try user.file("live.y4m", try y4m([[], [], [], [Self.good], [Self.good]]))
            let piped = try await user.shell("cat live.y4m | \(BuiltTool.path) scan --frames - --json --show-secrets")
            #expect(piped.status == 0, "\(piped.err)")
            #expect(try piped.json.first?["code"]?.string == "482913")
        }
    }

    @Test("What is missing is said: no code, one frame only, another code, several codes")
    func notFound() async throws {
        try await Sandbox.with { user in
            let cases: [(frames: [[String]], status: Int32, code: String)] = [
                ([[], []], 3, "scan.no_code"), ([[Self.good], []], 3, "scan.seen_once"),
                ([["https://example.org/"], []], 3, "scan.not_a_pairing_code"),
                (
                    Array(repeating: [Self.good, Self.good.replacing("482913", with: "111111")], count: 2), 2,
                    "scan.several_codes"
                ),
            ]
            for (number, one) in cases.enumerated() {
                let file = try user.file("\(number).y4m", try y4m(one.frames))
                let result = await user.run(["scan", "--frames", file, "--json"])
                #expect(result.status == one.status, "\(result.err)")
                #expect(try result.errorCode == one.code)
            }
            let broken = await user.run(["scan", "--frames", try user.file("x.y4m", Array("hello".utf8)), "--json"])
            #expect(broken.status == 1)
            #expect(try broken.errorCode == "image.unsupported_format")
        }
    }

    @Test("Waiting ends when the time is over, with exit code 4")
    func timeOut() async throws {
        try await Sandbox.with { user in
            // Nobody ever writes to it.
            let pipe = try await user.pipe("frames")
            let result = await user.run(["scan", "--frames", pipe, "--timeout", "0.05s", "--json"])
            #expect(result.status == 4)
            #expect(try result.errorCode == "scan.timed_out")
        }
    }

    @Test("A hint stands on a terminal, and is gone at the end")
    func hints() async throws {
        try await Sandbox.with { user in
            let dark =
                Array("YUV4MPEG2 W64 H64 Cmono\n".utf8) + Array("FRAME\n".utf8) + [UInt8](repeating: 9, count: 4_096)
            let file = try user.file("dark.y4m", dark)
            let result = await user.run(["scan", "--frames", file], terminal: true)
            #expect(result.err.contains("\r\u{1B}[KToo dark.\r\u{1B}[K"))
            let foreign = try user.file("foreign.y4m", try y4m([["https://example.org/"]]))
            #expect(
                await user.run(["scan", "--frames", foreign], terminal: true).err.contains("That is a web address")
            )
            #expect(!(await user.run(["scan", "--frames", file]).err.contains("\r")))
        }
    }

    @Test("Frames and pictures exclude each other, and a camera is a path")
    func usage() async throws {
        try await Sandbox.with { user in
            for words in [
                ["scan", "--camera", "/dev/video0", "x.png"], ["scan", "--camera", "Shed"], ["scan"],
                ["scan", "--camera", "--frames", "-"], ["scan", "x.png", "--timeout", "3s"],
                ["pair", "--camera", "--qr", "x.png"], ["pair", "--frames", "-", "--code-stdin"],
            ] {
                #expect(await user.run(words).status == 2, "\(words)")
            }
        }
    }

    @Test("Where there is no camera, that is said, with exit code 3")
    func noCamera() async throws {
        try await Sandbox.with { user in
            let none = await user.run(["scan", "--camera", user.directory + "/video0", "--json"])
            #expect(none.status == 3)
            #expect(try none.errorCode == "camera.not_found")
            let file = await user.run(["scan", "--camera", try user.file("video0", []), "--json"])
            #expect(file.status == 2)
            #expect(try file.errorCode == "camera.not_a_camera")
        }
    }

    // MARK: A camera

    /// Runs the built tool with a camera whose only frame is a file.
    private func look(
        _ user: Sandbox,
        _ words: [String],
        format: String = "GREY",
        frame: [UInt8],
        failing: String = ""
    ) async throws -> Sandbox.Result {
        let source =
            "/" + #filePath.split(separator: "/").dropLast(3).joined(separator: "/") + "/Tests/Support/fake_camera.c"
        let library = user.directory + "/fake.so"
        if !FileManager.default.fileExists(atPath: library) {
            let made = try await user.shell(
                "cc -shared -fPIC -o fake.so '\(source)' || clang -shared -fPIC -o fake.so '\(source)'"
            )
            #expect(made.status == 0, "\(made.err)")
        }
        return try await user.spawn(
            words,
            environment: [
                "LD_PRELOAD": library, "FAKE_CAMERA": "/dev/zero", "FAKE_CAMERA_SIZE": "640x480",
                "FAKE_CAMERA_FORMAT": format, "FAKE_CAMERA_FRAME": try user.file("frame", frame),
                "FAKE_CAMERA_FAIL": failing, "FAKE_CAMERA_AFTER": failing.hasPrefix("DQBUF") ? "2" : "0",
            ]
        )
    }

    @Test("A code is read from a camera, whatever it gives", arguments: ["GREY", "YUYV", "NV12"])
    func camera(format: String) async throws {
        try await Sandbox.with { user in
            let grey = try shades([Self.good])
            let frame: [UInt8] =
                switch format {
                case "GREY": grey
                case "YUYV": grey.flatMap { [$0, 128] as [UInt8] }
                default: grey + [UInt8](repeating: 128, count: grey.count)
                }
            let result = try await look(
                user,
                ["scan", "--camera", "/dev/zero", "--json"],
                format: format,
                frame: frame
            )
            #expect(result.status == 0, "\(result.err)")
            #expect(try result.json.first?["file"]?.string == "/dev/zero")
        }
    }

    @Test(
        "A camera that is busy, forbidden, unplugged, broken or none: each has its own error",
        arguments: [
            ("S_FMT=16", Int32(1), "camera.busy"), ("REQBUFS=16", 1, "camera.busy"), ("STREAMON=16", 1, "camera.busy"),
            ("OPEN=13", 9, "camera.denied"), ("DQBUF=19", 3, "camera.not_found"), ("STREAMON=28", 1, "camera.failed"),
            ("QUERYCAP=25", 2, "camera.not_a_camera"),
        ]
    )
    func cameraTrouble(failing: String, status: Int32, code: String) async throws {
        try await Sandbox.with { user in
            let words = ["scan", "--camera", "/dev/zero", "--json"]
            let result = try await look(user, words, frame: try shades([]), failing: failing)
            #expect(result.status == status, "\(result.err)")
            #expect(try result.errorCode == code)
            #expect(result.err.contains("/dev/zero") && result.err.contains("next"))
        }
    }

    @Test("Looking through a camera ends when the time is over")
    func cameraTimeOut() async throws {
        try await Sandbox.with { user in
            let words = ["scan", "--camera", "/dev/zero", "--json", "--timeout", "0.1s"]
            let result = try await look(user, words, frame: try shades(["https://example.org/"]))
            #expect(result.status == 4)
            #expect(result.err.contains("a web address"))
        }
    }

    @Test("Pairing takes the code from frames")
    func pair() async throws {
        try await withProject { host, user in
            try await withRunningHost(host, ["--project", host.directory + "/garden"]) { events in
                let payload = try #require(try await events.first("challenge")["qrPayload"]?.string)
                let file = try user.file("code.y4m", try y4m([[payload], [payload]]))
                let result = await user.run(["pair", "--frames", file, "--json"])
                #expect(result.status == 0, "\(result.err)")
                #expect(try result.json.first?["trust"]?.string == "verified")
                let none = await user.run(["pair", "--frames", try user.file("none.y4m", try y4m([[]])), "--json"])
                #expect(none.status == 3)
            }
        }
    }
}
