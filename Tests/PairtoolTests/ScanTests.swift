import FoundationEssentials
import PNGFiles
import QRCodec
import Terminal
import Testing

@testable import pairtool

@Suite struct ScanTests {
    private static let good =
        #"{"protocol":"copilotforge-pair-v1","code":"482913","token":"sample-token","expiresAt":"2099-12-31T23:59:59.000Z"}"#

    private func png(_ text: String) throws -> [UInt8] {
        try QRSymbol(bytes: Array(text.utf8)).png()
    }

    @Test("Code and token are shown only on request, in text and in JSON")
    func secrets() async throws {
        try await Sandbox.with { user in
            let file = try user.file("good.png", try png(Self.good))
            for arguments in [["--json"], ["-q"], []] {
                let result = await user.run(["scan", file] + arguments)
                #expect(result.status == 0)
                #expect(!result.out.contains("482913") && !result.out.contains("sample-token"), "\(arguments)")
            }
            let shown = await user.run(["scan", file, "--json", "--show-secrets"])
            #expect(try shown.json[0]["code"]?.string == "482913")
            #expect(try shown.json[0]["token"]?.string == "sample-token")
            #expect(try shown.json[0]["expired"] == .bool(false))
        }
    }

    @Test("A foreign code is named, with exit code 3")
    func foreign() async throws {
        try await Sandbox.with { user in
            let result = await user.run(["scan", try user.file("url.png", try png("https://example.org/"))])
            #expect(result.status == 3)
            #expect(result.err.contains("a web address"))
        }
    }

    @Test("--text prints what any code says, --raw its bytes, and JSON has it")
    func text() async throws {
        try await Sandbox.with { user in
            let ticket = try user.file("ticket.png", try png("Bed 4 \u{1B}[31mred\nrow 2"))
            let piped = await user.run("scan", ticket, "--text")
            #expect(piped.status == 0 && piped.out == "Bed 4 \u{1B}[31mred\nrow 2\n", "\(piped)")
            let seen = await user.run("scan", ticket, "--text", terminal: true)
            #expect(seen.status == 0 && seen.out == "Bed 4 ␛[31mred\nrow 2\n", "\(seen)")
            #expect(await user.run("scan", ticket, "--raw").out == "Bed 4 \u{1B}[31mred\nrow 2")
            let json = await user.run("scan", ticket, "--text", "--json")
            #expect(try json.status == 0 && json.json[0]["text"]?.string == "Bed 4 \u{1B}[31mred\nrow 2", "\(json)")
            let usual = await user.run("scan", ticket, "--json")
            #expect(try usual.status == 3 && usual.json[0]["text"] != nil, "\(usual)")
            let bytes = try user.file("bytes.png", try QRSymbol(bytes: [0xFF, 0x00, 0x41]).png())
            #expect(try await user.run("scan", bytes, "--text", "--json").json[0]["bytes"]?.string == "/wBB")
            let pairing = try user.file("good.png", try png(Self.good))
            #expect(await user.run("scan", pairing, "--text").out == Self.good + "\n")
            #expect(try await user.run("scan", pairing, "--json").json[0]["text"] == nil)
            let both = await user.run("scan", pairing, ticket, "missing.png", "--text")
            #expect(both.status == 3 && both.out == Self.good + "\nBed 4 \u{1B}[31mred\nrow 2\n", "\(both)")
            #expect(await user.run("scan", ticket, "--text", "--raw").status == 2)
        }
    }

    @Test("All codes of a picture are listed")
    func many() async throws {
        try await Sandbox.with { user in
            let texts = (1...12).map { "https://example.org/bed/\($0)" }
            let file = try user.file("many.png", try picture(texts))
            let said = await user.run("scan", file, "--text").out.split(separator: "\n").map(String.init)
            #expect(Set(said) == Set(texts), "\(said.count)")
        }
    }

    /// Codes beside one another.
    private func picture(_ texts: [String], scale: Int = 4) throws -> [UInt8] {
        let symbols = try texts.map { try QRSymbol(bytes: Array($0.utf8)) }
        let side = (symbols.map(\.size).max() ?? 0) + 8
        let width = side * scale
        return PNGWriter(width: width * symbols.count, height: width).file { x, y in
            [symbols[x / width][x % width / scale - 4, y / scale - 4] ? 0 : 255]
        }
    }

    @Test("Beside foreign codes, the pairing code is found, and pairing uses it")
    func beside() async throws {
        try await Sandbox.with { user in
            let file = try user.file("two.png", try picture(["https://example.org/", Self.good]))
            let result = await user.run(["scan", file, "--json"])
            #expect(result.status == 0)
            #expect(try result.json.contains { $0["kind"]?.string == "pairing" })
        }
    }

    @Test("Two different pairing codes in a picture are shown and refused; the same one twice is fine")
    func ambiguous() async throws {
        try await Sandbox.with { user in
            let other = Self.good.replacing("482913", with: "111111")
            let file = try user.file("two.png", try picture([Self.good, other]))
            let result = await user.run(["scan", file, "--json"])
            #expect(result.status == 2)
            #expect(try result.json.count == 2)
            #expect(result.err.contains("several different pairing codes"))
            let paired = await user.run(["pair", "--qr", file])
            #expect(paired.status == 2)
            #expect(paired.err.contains("several different pairing codes"))
            let same = try user.file("same.png", try picture([Self.good, Self.good]))
            #expect(await user.run(["scan", same]).status == 0)
        }
    }

    @Test("Several pictures are read in one go, and one that is broken does not hide the others")
    func several() async throws {
        try await Sandbox.with { user in
            let good = try user.file("good.png", try png(Self.good))
            let broken = try user.file("broken.png", [])
            let result = await user.run(["scan", broken, good, "--json"])
            #expect(result.status == 1)
            #expect(try result.json.count == 1)
            #expect(result.err.contains("broken.png"))
        }
    }

    @Test("A megabyte of JSON as a payload text, binary in a code, and a missing file are errors, not crashes")
    func badInput() async throws {
        try await Sandbox.with { user in
            let huge = #"{"protocol":"copilotforge-pair-v1","code":""# + String(repeating: "1", count: 1 << 20) + #""}"#
            #expect(await user.run(["scan", try user.file("huge.json", Array(huge.utf8))]).status == 3)
            let binary = try user.file("binary.png", try QRSymbol(bytes: [0xff, 0x00, 0xfe]).png())
            let result = await user.run(["scan", binary])
            #expect(result.status == 3)
            #expect(result.err.contains("binary data"))
            #expect(await user.run(["scan", user.directory + "/none.png"]).status == 3)
            #expect(await user.run(["scan", user.directory]).status == 1)
        }
    }

    @Test("What is drawn into a PNG is read back from it, and the file is private")
    func drawAndScan() async throws {
        try await Sandbox.with { user in
            let file = user.directory + "/code.png"
            #expect(await user.run("qr", "-o", file, stdin: Self.good + "\n").status == 0)
            let attributes = try FileManager.default.attributesOfItem(atPath: file)
            #expect(attributes[.posixPermissions] as? Int == 0o600)
            #expect(await user.run(["scan", file]).status == 0)
            let svg = await user.run("qr", "--format", "svg", stdin: "x")
            #expect(svg.out.hasPrefix("<"))
        }
    }

    @Test("A line end is no part of the text that is drawn")
    func lineEnd() async throws {
        try await Sandbox.with { user in
            var drawings: Set<String> = []
            for text in ["a text", "a text\n", "a text\r\n"] {
                drawings.insert(await user.run("qr", "--format", "svg", stdin: text).out)
            }
            #expect(drawings.count == 1 && drawings.first?.hasPrefix("<") == true)
        }
    }

    @Test("A terminal that is too small, an empty text and a wrong ending are refused with a way out")
    func drawingErrors() async throws {
        try await Sandbox.with { user in
            let long = String(repeating: "x", count: 2000)
            let small = await user.run("qr", stdin: long, terminal: true)
            #expect(small.status == 1)
            #expect(small.err.contains("pairtool qr -o"))
            #expect(await user.run("qr", stdin: "\n").status == 2)
            #expect(await user.run("qr", "-o", user.directory + "/x.gif", stdin: "x").status == 2)
            #expect(await user.run("qr", stdin: String(repeating: "x", count: 3000)).status == 1)
        }
    }

    @Test("Beside a drawing on a terminal stands what a screen reader can say of it")
    func spoken() async throws {
        try await Sandbox.with { user in
            let code = await user.run("qr", stdin: Self.good, terminal: true)
            #expect(code.status == 0)
            #expect(code.err.contains("482 913  (four eight two, nine one three)"))
            #expect(code.err.contains("41 × 41 modules"))
            let text = await user.run("qr", stdin: "hello", terminal: true)
            #expect(!text.err.contains("Pairing code"))
            #expect(text.err.contains("holds 5 bytes"))
            #expect(await user.run("qr", stdin: "hello").err.isEmpty, "not where nobody looks")
        }
    }

    @Test("Of a picture in a file, too, a terminal hears the digits; others do not", arguments: ["png", "svg"])
    func spokenPicture(format: String) async throws {
        try await Sandbox.with { user in
            let spoken = "482 913  (four eight two, nine one three)"
            let file = user.directory + "/code.\(format)"
            let said = await user.run("qr", "-o", file, stdin: Self.good, terminal: true)
            #expect(said.status == 0)
            #expect(said.err.contains("Pairing code:  \(spoken)"))
            for arguments in [["-q"], ["--json"]] {
                let result = await user.run(["qr", "-o", file] + arguments, stdin: Self.good, terminal: true)
                #expect(!(result.out + result.err).contains("four eight two"), "\(arguments)")
            }
            let unseen = await user.run("qr", "-o", file, stdin: Self.good)
            // The file's own name is a random one, and may hold some of the digits.
            #expect(!unseen.err.replacing(file, with: "").contains("482"))
            let digits = await user.run("qr", "-o", file, stdin: "482913", terminal: true)
            #expect(!digits.err.replacing(file, with: "").contains("482"))
            guard format == "svg" else { return }
            let svg = await user.run("qr", "--format", "svg", stdin: Self.good)
            #expect(svg.out.contains(#" role="img">"#))
            #expect(svg.out.contains("<title>QR code for pairing: \(spoken)</title>"))
            #expect(await user.run("qr", "--format", "svg", stdin: "x").out.contains("<title>QR code</title>"))
        }
    }

    @Test("In JSON, the digits of a pairing code stand beside the drawing that holds them")
    func spokenJSON() async throws {
        try await Sandbox.with { user in
            let row = try #require(try await user.run("qr", "--json", stdin: Self.good).json.first)
            #expect(row["digits"]?["groups"]?.string == "482 913")
            #expect(row["digits"]?["spoken"]?.string == "four eight two, nine one three")
            #expect(try await user.run("qr", "--json", stdin: "482913").json.first?["digits"] == nil)
        }
    }

    @Test("Without a level, the strongest is taken that makes a code no larger; a small window gets a denser drawing")
    func levels() async throws {
        try await Sandbox.with { user in
            let cases = [(17, "L", 1), (7, "H", 1), (11, "Q", 1), (18, "Q", 2)]
            for (count, level, version) in cases {
                let row = try #require(
                    try await user.run("qr", "--json", stdin: String(repeating: "x", count: count)).json.first
                )
                #expect(row["errorCorrection"]?.string == level)
                #expect(row["version"] == .number(Double(version)))
                #expect(row["style"]?.string == "halves")
            }
            let given = try await user.run("qr", "--json", "--level", "M", stdin: "x").json
            #expect(given.first?["errorCorrection"]?.string == "M")
            // The window has 80 columns and 40 rows.
            let long = String(repeating: "x", count: 600)
            let dense = await user.run("qr", "--json", "--dense", stdin: long, terminal: true)
            #expect(try dense.json.first?["style"]?.string == "sextants")
            let said = await user.run("qr", "--dense", stdin: long, terminal: true)
            #expect(said.err.contains("pairtool qr -o code.png"))
            // Without the option, and on the console, which has none of them, there are only characters of every font.
            for (more, environment) in [([], [:]), (["--dense"], ["TERM": "linux"])] as [([String], [String: String])] {
                let refused = await user.run(["qr"] + more, stdin: long, environment: environment, terminal: true)
                #expect(refused.status == 1 && refused.err.contains("make the window larger"))
            }
        }
    }

    @Test(
        "Digits are grouped and spoken one by one",
        arguments: [
            ("482915", "482 915", "four eight two, nine one five"), ("007", "007", "zero zero seven"),
            ("1234", "123 4", "one two three, four"), ("12a", "12a", "12a"), ("", "", ""), ("١٢٣", "١٢٣", "١٢٣"),
        ]
    )
    func digits(code: String, groups: String, spoken: String) {
        #expect(SpokenCode.groups(code) == groups)
        #expect(SpokenCode.spoken(code) == spoken)
    }
}
