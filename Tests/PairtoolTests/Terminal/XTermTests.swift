import CompanionWire
import FoundationEssentials
import NIOConcurrencyHelpers
import Subprocess
import SystemPackage
import Terminal
import Testing

@testable import pairtool

/// A terminal as people have it, with the font that Debian brings: what it shows is read by somebody else's reader.
@Suite(
    .serialized,
    .timeLimit(.minutes(15)),
    .enabled(if: XTerm.missing.isEmpty, "skipped, missing: \(XTerm.missing)")
)
struct XTermTests {
    @Test(
        "The smallest payload is read from a window of 80 × 24, dark or light, with colours or without",
        arguments: ["black", "white"],
        ["", "1"]
    )
    func smallest(background: String, noColour: String) async throws {
        let payload = try #require(Self.payload(port: PairingPayload.defaultPort).sizes.last)
        try await Self.shown(payload.text, background: background, environment: ["NO_COLOR=\(noColour)"])
    }

    @Test(
        "A whole payload is read from the larger windows, dark or light, with colours or without",
        arguments: [
            ("100x40", "black", ""), ("200x50", "white", ""), ("100x40", "white", "1"), ("200x50", "black", "1"),
        ]
    )
    func whole(size: String, background: String, noColour: String) async throws {
        try await Self.shown(
            Self.payload(port: 51_234).text,
            size: size,
            background: background,
            environment: ["NO_COLOR=\(noColour)"]
        )
    }

    @Test(
        "A host's code is read from each window that it fits into, and has what is needed to pair",
        arguments: ["100x40", "200x50"]
    )
    func host(size: String) async throws {
        try await withProject { host, _ in
            let command = [BuiltTool.path, "host", "--project", host.directory + "/garden", "--engine", "embedded"]
            try await XTerm.with(host, size, [], command + ["--port", "0"]) { terminal in
                let look = try await terminal.look { $0.text.contains("Pairing code:  ") && !$0.codes.isEmpty }
                let payload = try Self.payload(look.codes)
                #expect(look.text.contains("Pairing code:  \(SpokenCode.groups(payload.code))"))
                #expect(payload.token != nil && payload.spki != nil && payload.host != nil && payload.addr != nil)
            }
        }
    }

    @Test(
        "At 80 × 24 a host with the usual port shows its code and its digits"
    )
    func small() async throws {
        try await withProject { host, _ in
            let command = [BuiltTool.path, "host", "--project", host.directory + "/garden", "--engine", "embedded"]
            try await XTerm.with(host, "80x24", ["--apart"], command) { terminal in
                let look = try await terminal.look { $0.text.contains("Pairing code:  ") && !$0.codes.isEmpty }
                let payload = try Self.payload(look.codes)
                #expect(look.text.contains("Pairing code:  \(SpokenCode.groups(payload.code))"), "\(look.text)")
                #expect(payload.spki != nil && payload.addr != nil && payload.port == nil)
            }
        }
    }

    @Test("Where a code does not fit, the window ends with why, and with the ways out")
    func tooSmall() async throws {
        try await withProject { host, _ in
            let command = [BuiltTool.path, "host", "--project", host.directory + "/garden", "--engine", "embedded"]
            try await XTerm.with(host, "80x24", [], command + ["--port", "0"]) { terminal in
                let look = try await terminal.look { $0.shows("valid for ") && $0.shows("Advertised as") }
                #expect(look.codes.isEmpty)
                let why = "rows; the window has 80 columns and 24 rows."
                let ways = ["Make the window larger", "--dense", "--qr-file", "type the digits", "Pairing code:  "]
                for phrase in [why] + ways { #expect(look.shows(phrase), "\(look.text)") }
            }
            try await XTerm.with(
                host,
                "80x24",
                [],
                [BuiltTool.path, "qr", try host.file("long", Array(Self.payload(port: 1).text.utf8))]
            ) {
                let look = try await $0.look { $0.shows("pairtool qr -o code.png") }
                #expect(look.shows("make the window larger") && look.shows("--dense"))
            }
        }
    }

    /// Draws a text, and reads it from the picture of the window.
    private static func shown(
        _ text: String,
        size: String = "80x24",
        background: String,
        environment: [String]
    ) async throws {
        try await Sandbox.with { user in
            let command =
                ["/usr/bin/env"] + environment + [BuiltTool.path, "qr", try user.file("text", Array(text.utf8))]
            let colours = ["--background", background, "--foreground", background == "black" ? "white" : "black"]
            try await XTerm.with(user, size, colours, command) { terminal in
                let look = try await terminal.look { !$0.codes.isEmpty }
                #expect(look.codes == [text])
            }
        }
    }

    private static func payload(_ codes: [String]) throws -> PairingPayload {
        let text = try #require(codes.first)
        guard codes.count == 1, case .pairing(let payload) = QRContent(Array(text.utf8)) else {
            throw CancellationError()
        }
        return payload
    }

    private static func payload(port: Int) -> PairingPayload {
        PairingPayload(
            code: "482913",
            token: "AbCdEfGhIjKlMnOpQrStUv",
            expiresAt: Date(timeIntervalSince1970: 1_795_253_400),
            version: 2,
            host: "0123456789abcdef",
            spki: Base64URL.encode([UInt8](repeating: 0x5A, count: 32)),
            port: port,
            addr: "192.168.100.20"
        )
    }
}

/// An xterm in an X server without a screen (`Tests/Support/xterm.py`).
struct XTerm: Sendable {
    /// What the window shows.
    struct Look: Sendable {
        var text: String
        /// What zbarimg reads.
        var codes: [String]

        /// Whether a phrase is in the window, wherever its lines break.
        func shows(_ phrase: String) -> Bool {
            func bare(_ text: String) -> String { text.filter { !$0.isWhitespace } }
            return bare(text).contains(bare(phrase))
        }
    }

    static let missing = ["Xvfb", "xterm", "zbarimg", "python3"]
        .filter { !FileManager.default.isExecutableFile(atPath: "/usr/bin/\($0)") }
        .joined(separator: ", ")

    private let program: RunningProgram
    private let file: String
    private let count = NIOLockedValueBox(0)

    /// Runs a command in a window while a body runs.
    static func with(
        _ user: Sandbox,
        _ size: String,
        _ options: [String] = [],
        _ command: [String],
        _ body: @escaping @Sendable (XTerm) async throws -> Void
    ) async throws {
        let script = ["\(LAN.support)/xterm.py", "--size", size] + options + command
        let file = user.directory + "/window.pgm"
        try await user.withProgram(.path("/usr/bin/python3"), script) { try await body(XTerm(program: $0, file: file)) }
    }

    /// Looks at the window until it shows what is waited for.
    func look(until isThere: @Sendable (Look) -> Bool) async throws -> Look {
        while true {
            try Task.checkCancellation()
            let number = count.withLockedValue { count in
                count += 1
                return Double(count)
            }
            try await program.tell(file)
            let line = try await program.events.firstLine("a look") { $0["number"] == .number(number) }
            let read = try await Subprocess.run(
                .path("/usr/bin/zbarimg"),
                arguments: ["-q", "--raw", file],
                output: .string(limit: 1 << 16),
                error: .discarded
            )
            let look = Look(
                text: line["text"]?.string ?? "",
                codes: read.standardOutput.split(separator: "\n").map(String.init)
            )
            if isThere(look) { return look }
        }
    }
}
