import CompanionWire
import FoundationEssentials
import QRCodec
import Testing

@testable import pairtool

/// Codes on the screen and in the clipboard.
@Suite(.serialized, .timeLimit(.minutes(15))) struct ScreenTests {
    private static let payload =
        #"{"protocol":"copilotforge-pair-v1","code":"482913","token":"sample-token","expiresAt":"2099-12-31T23:59:59.000Z"}"#

    @Test(
        "A code on an X server's screen is read, with 24 and with 16 bits a pixel",
        .enabled(if: XServer.missing.isEmpty, "skipped, missing: \(XServer.missing)"),
        arguments: [24, 16]
    )
    func x11(depth: Int) async throws {
        try await XServer.with(depth: depth) { server in
            try await Sandbox.with { user in
                let nothing = await user.run("scan", "--screen", "--json", environment: server.environment)
                #expect(nothing.status == 3)
                #expect(nothing.failed(with: "scan.no_code"))
                try await server.show(Self.payload, in: user)
                let result = await user.run("scan", "--screen", "--json", environment: server.environment)
                #expect(result.status == 0, "\(result)")
                #expect(try result.json[0]["file"]?.string == "screen")
                #expect(!result.out.contains("482913"))
            }
        }
    }

    @Test("Where there is no screen, it says so, and what to do")
    func noScreen() async throws {
        try await Sandbox.with { user in
            let none = await user.run("scan", "--screen", "--json")
            #expect(none.status == 1)
            #expect(none.failed(with: "desktop.no_screen"))
            #expect(none.err.contains("pairtool pair --qr"))
            let dead = await user.run("pair", "--screen", "--json", environment: ["DISPLAY": ":4711"])
            #expect(dead.failed(with: "desktop.no_screen"))
            #expect(dead.err.contains(":4711"))
            let clipboard = await user.run("scan", "--clipboard", "--json")
            #expect(clipboard.failed(with: "desktop.no_clipboard"))
        }
    }

    @Test(
        "On Wayland the desktop portal is asked, and its picture does not stay behind",
        .enabled(if: PrivateBus.missing.isEmpty, "skipped, missing: \(PrivateBus.missing)")
    )
    func portal() async throws {
        try await Sandbox.with { user in
            let picture = try user.file("screen.png", try QRSymbol(bytes: Array(Self.payload.utf8)).png())
            try await PrivateBus.with(["portal", "--picture", picture]) { bus in
                // A DISPLAY within Wayland leads to a screen that shows nothing of it.
                let environment = bus.environment.merging(["WAYLAND_DISPLAY": "wayland-0", "DISPLAY": ":4711"]) { $1 }
                for count in 1...2 {
                    let result = await user.run("scan", "--screen", "--json", environment: environment)
                    #expect(result.status == 0, "\(result)")
                    #expect(try result.json[0]["kind"]?.string == "pairing", "\(count)")
                }
                let call = try await bus.events.firstLine("Screenshot") { $0["call"]?.string == "Screenshot" }
                #expect(call["interactive"] == .bool(false))
            }
            let left = try FileManager.default.contentsOfDirectory(atPath: user.directory)
            #expect(left.filter { $0.hasSuffix(".png") } == ["screen.png"])
        }
    }

    @Test(
        "A portal that refuses, none, and no bus are errors of their own",
        .enabled(if: PrivateBus.missing.isEmpty, "skipped, missing: \(PrivateBus.missing)")
    )
    func portalErrors() async throws {
        try await Sandbox.with { user in
            let wayland = ["WAYLAND_DISPLAY": "wayland-0"]
            try await PrivateBus.with(["portal", "--refuse"]) { bus in
                let environment = bus.environment.merging(wayland) { $1 }
                let refused = await user.run("scan", "--screen", "--json", environment: environment)
                #expect(refused.status == 9)
                #expect(refused.failed(with: "desktop.refused"))
            }
            try await PrivateBus.with([]) { bus in
                let environment = bus.environment.merging(wayland) { $1 }
                let none = await user.run("scan", "--screen", "--json", environment: environment)
                #expect(none.failed(with: "desktop.no_answer"))
                #expect(none.err.contains("xdg-desktop-portal"))
            }
            let noBus = await user.run("scan", "--screen", "--json", environment: wayland)
            #expect(noBus.failed(with: "desktop.no_bus"))
        }
    }

    /// A directory with a program in it that acts as `wl-paste` or `xclip` for what a file has.
    private func fake(
        _ name: String,
        types: String,
        content: [UInt8],
        _ user: Sandbox
    ) async throws -> [String: String] {
        let file = try user.file("copied", content)
        let folder = user.directory + "/bin"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let script = """
            #!/bin/sh
            echo "$@" >>'\(user.directory)/asked'
            case "$*" in
                *--list-types*|*TARGETS*) printf '\(types)' ;;
                *) cat '\(file)' ;;
            esac
            """
        _ = try user.file("bin/\(name)", Array(script.utf8))
        let made = try await user.shell("chmod 755 bin/\(name)")
        #expect(made.status == 0)
        return ["PATH": folder + ":/usr/bin:/bin", name == "xclip" ? "DISPLAY" : "WAYLAND_DISPLAY": "none"]
    }

    @Test("A picture in the clipboard is read, by the program that fits the desktop", arguments: ["wl-paste", "xclip"])
    func clipboardPicture(program: String) async throws {
        try await Sandbox.with { user in
            let picture = try QRSymbol(bytes: Array(Self.payload.utf8)).png()
            let environment = try await fake(program, types: "text/html\\nimage/png\\n", content: picture, user)
            let result = await user.run("scan", "--clipboard", "--json", environment: environment)
            #expect(result.status == 0, "\(result)")
            #expect(try result.json[0]["file"]?.string == "clipboard")
            let asked = try String(contentsOf: URL(filePath: user.directory + "/asked"), encoding: .utf8)
            #expect(asked.contains("image/png") && !asked.contains("text/html"))
        }
    }

    @Test("The code's text in the clipboard will do, other text is not shown, and an empty clipboard says so")
    func clipboardText() async throws {
        try await Sandbox.with { user in
            var environment = try await fake(
                "wl-paste",
                types: "text/plain;charset=utf-8\\n",
                content: Array("  \(Self.payload)\n".utf8),
                user
            )
            #expect(await user.run("scan", "--clipboard", "--json", environment: environment).status == 0)
            let note = Array("milk and bread".utf8)
            environment = try await fake("wl-paste", types: "text/plain\\n", content: note, user)
            let other = await user.run("scan", "--clipboard", "--json", environment: environment)
            #expect(other.status == 3)
            #expect(!other.err.contains("milk"), "what was copied is nobody's business")
            environment = try await fake("wl-paste", types: "application/pdf\\n", content: [], user)
            let none = await user.run("scan", "--clipboard", "--json", environment: environment)
            #expect(none.status == 3)
            #expect(none.failed(with: "desktop.empty"))
        }
    }

    @Test("A picture that is larger than what is read is refused as that")
    func clipboardTooLarge() async throws {
        try await Sandbox.with { user in
            let environment = try await fake("wl-paste", types: "image/png\\n", content: [], user)
            let limit = ImageLimits.default.maxFileBytes
            #expect(try await user.shell("truncate -s \(limit + 1) copied").status == 0)
            let result = await user.run("scan", "--clipboard", "--json", environment: environment)
            #expect(result.status == 1, "\(result)")
            #expect(result.failed(with: "desktop.too_large"))
            #expect(result.err.contains("\(limit) bytes"))
        }
    }

    @Test(
        "The program that is missing is named",
        arguments: [("WAYLAND_DISPLAY", "wl-clipboard"), ("DISPLAY", "xclip")]
    )
    func programMissing(variable: String, package: String) async throws {
        try await Sandbox.with { user in
            let environment = ["PATH": user.directory, variable: ":0"]
            let result = await user.run("scan", "--clipboard", "--json", environment: environment)
            #expect(result.status == 1)
            #expect(result.failed(with: "desktop.no_program"))
            #expect(result.err.contains("apt install \(package)"))
        }
    }

    @Test(
        "With the real xclip, a picture and a text are read from an X server's clipboard",
        .enabled(if: XServer.missing.isEmpty, "skipped, missing: \(XServer.missing)")
    )
    func realClipboard() async throws {
        try await XServer.with { server in
            try await Sandbox.with { user in
                let empty = await user.run("scan", "--clipboard", "--json", environment: server.environment)
                #expect(empty.failed(with: "desktop.empty"))
                let picture = try user.file("code.png", try QRSymbol(bytes: Array(Self.payload.utf8)).png())
                try await server.tell("copy image/png \(picture)")
                let read = await user.run("scan", "--clipboard", "--json", environment: server.environment)
                #expect(read.status == 0, "\(read)")
                try await server.tell("copy UTF8_STRING \(try user.file("code.json", Array(Self.payload.utf8)))")
                let text = await user.run("scan", "--clipboard", "-q", environment: server.environment)
                #expect(text.out == "clipboard\tpairing\n", "\(text)")
            }
        }
    }

    @Test(
        "auto watches the screen, pairs with the code that shows up there, and tells the desktop",
        .enabled(
            if: XServer.missing.isEmpty && PrivateBus.missing.isEmpty,
            "skipped, missing: \(XServer.missing) \(PrivateBus.missing)"
        )
    )
    func auto() async throws {
        try await withProject { host, user in
            let arguments = ["--name", "Shed", "--project", host.directory + "/garden"]
            try await withRunningHost(host, arguments) { events in
                let payload = try await events.payload.text
                try await XServer.with { server in
                    try await PrivateBus.with(["notifications"]) { desktop in
                        let auto = ["auto", "--screen", "--json", "--name", "desk"]
                        let result = try await user.follow(
                            auto + ["--interface", "lo", "--engine", "embedded"],
                            environment: server.environment.merging(desktop.environment) { $1 }
                        ) { process in
                            try await process.messages.has("Looking for codes (the screen)")
                            try await server.show(payload, in: user)
                        }.result
                        #expect(result.status == 0, "\(result)")
                        #expect(try result.json[0]["trust"]?.string == "verified")
                        let told = try await desktop.call("Notify")
                        #expect(told["title"]?.string == "Paired with Shed")
                        #expect(told["body"]?.string?.contains("desk") == true)
                    }
                }
            }
        }
    }
}
