import CompanionTestSupport
import CompanionWire
import Discovery
import FoundationEssentials
import Logging
import QRCodec
import Testing

@testable import pairtool

/// `pairtool auto` with the built binary, real hosts and real mDNS on loopback.
@Suite(.serialized, .timeLimit(.minutes(15))) struct AutoTests {
    private static let network = ["--interface", "lo", "--engine", "embedded"]

    /// Other tests have hosts on loopback, too.
    private static let tag = UUID().uuidString.prefix(6)
    private static let (shed, aster, briar) = ("Shed \(tag)", "Aster \(tag)", "Briar \(tag)")

    /// A user whose `shots` directory is watched by a running `pairtool auto`.
    private func attending<R: Sendable>(
        _ user: Sandbox,
        _ arguments: [String] = [],
        environment: [String: String] = [:],
        _ body: @escaping @Sendable (Follower) async throws -> R
    ) async throws -> Sandbox.Result {
        let directory = user.directory + "/shots"
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        let auto = ["auto", "--watch", directory, "--name", "desk"] + Self.network
        return try await user.follow(auto + arguments, environment: environment) { process in
            try await process.messages.has("Looking for codes")
            return try await body(process)
        }.result
    }

    private func picture(_ payload: String) throws -> [UInt8] {
        try QRSymbol(bytes: Array(payload.utf8)).png()
    }

    /// The same code as a host of protocol 1 would show it: without the host's name and key.
    private func plain(_ payload: PairingPayload) -> String {
        PairingPayload(code: payload.code, token: payload.token, expiresAt: payload.expiresAt).text
    }

    private func withHost<R: Sendable>(
        _ name: String,
        _ body: @escaping @Sendable (Sandbox, HostEvents) async throws -> R
    ) async throws -> R {
        try await withProject { host, _ in
            try await withRunningHost(host, ["--name", name, "--project", host.directory + "/garden"]) { events in
                _ = try await events.first("advertised")
                return try await body(host, events)
            }
        }
    }

    @Test("A place that is lost before the wait begins is not among those that are looked at")
    func lostPlace() async throws {
        try await Sandbox.with { user in
            let result = try await attending(user, ["--screen", "--url", "http://127.0.0.1:1"]) { process in
                try process.interrupt()
            }
            #expect(result.status == 130, "\(result)")
            #expect(result.err.contains("no more codes from the screen: there is no screen to look at"), "\(result)")
            #expect(result.err.contains("Looking for codes (\(user.directory)/shots) of"), "\(result)")
        }
    }

    @Test("A host and its code lead to a pairing, and on to the command that was named, whose output counts")
    func handOver() async throws {
        try await withHost(Self.shed) { _, events in
            try await Sandbox.with { user in
                let payload = try await events.payload.text
                let code = try picture(payload)
                let result = try await attending(user, ["--", "projects", "--json"]) { process in
                    try await process.messages.has(Self.shed)
                    _ = try user.file("shots/code.png", code)
                }
                #expect(result.status == 0, "\(result)")
                #expect(try result.json.map { $0["name"]?.string } == ["garden"], "nothing else is on standard output")
                #expect(result.err.contains("Paired with \(Self.shed)"))
                #expect(try await events.first("paired")["deviceName"]?.string == "desk")
                let hosts = try await user.spawn(["hosts", "--json"])
                #expect(try hosts.json.map { $0["trust"]?.string } == ["verified"])
            }
        }
    }

    @Test("The exit code of the command is the tool's, and one that is wrong is refused before the wait")
    func exitCode() async throws {
        try await withHost(Self.shed) { _, events in
            try await Sandbox.with { user in
                let code = try picture(try await events.payload.text)
                let result = try await attending(user, ["--", "messages", "no such chat"]) { _ in
                    _ = try user.file("shots/code.png", code)
                }
                #expect(result.status == 3, "\(result)")
                let wrong = await user.run("auto", "--clipboard", "--", "projcts")
                #expect(wrong.status == 2)
                #expect(wrong.err.contains("projcts"))
                #expect(await user.run("auto").status == 2)
                #expect(await user.run("auto", "--screen", "--keep", "--", "projects").status == 2)
            }
        }
    }

    /// A video in which a code is held before the camera, as YUV4MPEG2.
    private func video(_ payload: String) throws -> [UInt8] {
        let symbol = try QRSymbol(smallest: Array(payload.utf8), atLeast: .low)
        let shades = (0..<480).flatMap { y in (0..<640).map { x in symbol[x / 5 - 8, y / 5 - 8] ? 30 : 200 as UInt8 } }
        let frame = Array("FRAME\n".utf8) + shades + [UInt8](repeating: 128, count: 320 * 240 * 2)
        return Array("YUV4MPEG2 W640 H480 F30:1 C420jpeg\n".utf8) + frame + frame + frame
    }

    @Test("A code that is held before a camera will do")
    func frames() async throws {
        try await withHost(Self.shed) { _, events in
            try await Sandbox.with { user in
                let file = try user.file("code.y4m", try video(try await events.payload.text))
                let auto = ["auto", "--frames", file, "--name", "desk", "--json"] + Self.network
                let result = try await user.spawn(auto + ["--timeout", "30s"])
                #expect(result.status == 0, "\(result)")
                #expect(try result.json[0]["trust"]?.string == "verified")
            }
        }
    }

    @Test("The code may be there before the host is")
    func codeFirst() async throws {
        try await withProject { host, user in
            let shots = user.directory + "/shots"
            let result = try await attending(user, ["--json"]) { _ in
                let arguments = ["--name", Self.shed, "--project", host.directory + "/garden"]
                try await withRunningHost(host, arguments + ["--qr-file", shots + "/code.png"]) { events in
                    _ = try await events.first("paired")
                }
            }
            #expect(result.status == 0, "\(result)")
            #expect(try result.json.map { $0["trust"]?.string } == ["verified"])
        }
    }

    @Test("With two hosts, a code that names its host reaches that one only")
    func twoHosts() async throws {
        try await withHost(Self.aster) { _, one in
            try await withHost(Self.briar) { _, two in
                try await Sandbox.with { user in
                    let code = try picture(try await two.payload.text)
                    let result = try await attending(user, ["--json"]) { process in
                        try await process.messages.has(Self.aster)
                        try await process.messages.has(Self.briar)
                        _ = try user.file("shots/code.png", code)
                    }
                    #expect(result.status == 0, "\(result)")
                    #expect(try result.json[0]["name"]?.string == Self.briar)
                    #expect(await !one.hasAny("paired", "wrong_code"))
                }
            }
        }
    }

    @Test("With two hosts, a code that names none is kept back, and --only lets it go to the one that is meant")
    func ambiguous() async throws {
        try await withHost(Self.aster) { _, one in
            try await withHost(Self.briar) { _, two in
                try await Sandbox.with { user in
                    let code = plain(try await one.payload)
                    let both = ["--only", Self.aster, "--only", Self.briar]
                    let held = try await attending(user, ["--json"] + both) { process in
                        try await process.messages.has("In sight: \(Self.aster), \(Self.briar).")
                        _ = try user.file("shots/code.json", Array(code.utf8))
                        try await process.messages.has("auto.ambiguous")
                        try process.interrupt()
                    }
                    #expect(held.status == 130)
                    #expect(await !one.hasAny("paired", "wrong_code"))
                    #expect(await !two.hasAny("paired", "wrong_code"))
                    let paired = try await attending(user, ["--json", "--only", Self.aster.lowercased()]) { process in
                        try await process.messages.has("In sight: \(Self.aster).")
                        _ = try user.file("shots/again.json", Array(code.utf8))
                    }
                    #expect(paired.status == 0, "\(paired)")
                    #expect(try paired.json[0]["trust"]?.string == "verified", "the digits were proven, not sent")
                    #expect(await !two.has("wrong_code"))
                }
            }
        }
    }

    @Test("An impostor of the same name gets nothing: a code with a key goes past it, one without is kept back")
    func impostor() async throws {
        try await withHost(Self.shed) { _, real in
            try await withHost(Self.shed) { _, impostor in
                try await Sandbox.with { user in
                    let payload = try await real.payload
                    let code = plain(payload)
                    let held = try await attending(user, ["--json", "--only", Self.shed]) { process in
                        try await process.messages.has("In sight: \(Self.shed), \(Self.shed).")
                        _ = try user.file("shots/code.json", Array(code.utf8))
                        try await process.messages.has("auto.ambiguous")
                        try process.interrupt()
                    }
                    #expect(held.status == 130)
                    let picture = try picture(payload.text)
                    let paired = try await attending(user, ["--json", "--only", Self.shed]) { _ in
                        _ = try user.file("shots/code.png", picture)
                    }
                    #expect(paired.status == 0, "\(paired)")
                    #expect(try paired.json[0]["id"]?.string == payload.host)
                    #expect(try paired.json[0]["spki"]?.string == payload.spki)
                    #expect(await !impostor.hasAny("paired", "wrong_code"))
                }
            }
        }
    }

    @Test("An impostor that advertises the host's own id is passed by, for it has not the key")
    func stolenID() async throws {
        try await withHost(Self.shed) { _, real in
            let payload = try await real.payload
            let secure = try await real.ports.secure
            let id = try #require(payload.host)
            try await withTLSInterceptor(before: secure) { interceptor in
                let advertisement = Advertisement(
                    name: "\(Self.shed) (new)",
                    services: [
                        (
                            type: .companion, port: interceptor.port,
                            txt: [("v", "2"), ("id", id), ("tls", "\(interceptor.port)"), ("name", Self.shed)]
                        )
                    ]
                )
                let client = CompanionDiscoveryClient(
                    engine: .embedded,
                    interface: "lo",
                    logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
                )
                try await client.withAdvertisement(advertisement) { events in
                    for await event in events {
                        if case .published = event { break }
                    }
                    try await Sandbox.with { user in
                        let picture = try picture(payload.text)
                        let paired = try await attending(user, ["--json"]) { process in
                            try await process.messages.has(Self.shed)
                            _ = try user.file("shots/code.png", picture)
                        }
                        #expect(paired.status == 0, "\(paired)")
                        #expect(try paired.json[0]["spki"]?.string == payload.spki)
                        #expect(!interceptor.overheard.contains("/companion/pairing"))
                    }
                }
            }
        }
    }

    @Test("What --only leaves out is not paired with, and an expired code is told of; the wait goes on")
    func excluded() async throws {
        try await withHost(Self.shed) { _, events in
            try await Sandbox.with { user in
                let payload = try await events.payload
                var old = payload
                old.expiresAt = Date(timeIntervalSince1970: 1_000_000)
                let pictures = (try picture(payload.text), try picture(old.text))
                let held = try await attending(user, ["--json", "--only", "Barn"]) { process in
                    _ = try user.file("shots/code.png", pictures.0)
                    try await process.messages.has("auto.excluded")
                    try process.interrupt()
                }
                #expect(held.status == 130)
                let told = try await attending(user, ["--json"]) { process in
                    _ = try user.file("shots/old.png", pictures.1)
                    try await process.messages.has("auto.expired")
                    try process.interrupt()
                }
                #expect(told.status == 130)
                #expect(await !events.has("paired"))
                let late = try await attending(user, ["--only", "Barn", "--timeout", "0.2s"]) { _ in }
                #expect(late.status == 4)
            }
        }
    }

    @Test("A service goes on: the next code of the same host is left alone, and a signal ends it")
    func keeps() async throws {
        try await withProject { host, user in
            let shots = user.directory + "/shots"
            let result = try await attending(user, ["--json", "--keep"]) { process in
                let arguments = ["--name", Self.shed, "--project", host.directory + "/garden"]
                // The host writes its next code into the same file.
                try await withRunningHost(host, arguments + ["--qr-file", shots + "/code.png"]) { events in
                    _ = try await events.first("paired")
                    try await process.messages.has("is paired already")
                }
                try process.interrupt()
            }
            #expect(result.status == 130)
            #expect(try result.json.count == 1)
        }
    }

    /// A user whose prompt waits for a paired host that is off; the words start the host again.
    private func withWaitingPrompt(
        _ body: (_ host: Sandbox, _ words: [String], _ user: Sandbox, _ chat: String) async throws -> Void
    ) async throws {
        try await withProject { host, user in
            let words = ["--name", Self.shed, "--project", host.directory + "/garden"]
            let chat = try await withRunningHost(host, words) { events in
                try await user.pair(try #require(try await events.first("challenge")["qrPayload"]?.string))
                let made = await user.run("send", "--new", "--project", "garden", "one", "--json")
                #expect(await user.run("chats").status == 0)
                return try #require(made.json.last?["chatId"]?.string)
            }
            let queued = await user.run("send", chat, "two", "--queue", environment: ["PAIRTOOL_INTERFACE": "none0"])
            #expect(queued.status == 0 && queued.err.contains("The prompt waits as"), "\(queued)")
            #expect(try await user.run("outbox", "--json").json.map { $0["state"] } == [.text("waiting")])
            try await body(host, words, user, chat)
        }
    }

    @Test("What waits for a paired host goes out once, when the host is in sight again")
    func waitingPrompt() async throws {
        try await withWaitingPrompt { host, words, user, chat in
            let result = try await attending(user, environment: ["PAIRTOOL_ENGINE": "embedded"]) { process in
                try await withRunningHost(host, words) { _ in
                    try await process.messages.has("has the prompt written")
                    #expect(await user.run("outbox").isEmptyList)
                    // The chat has one turn at a time.
                    let sent = await user.run("send", chat, "three")
                    #expect(sent.status == 0, "\(sent)")
                    let messages = try await user.run("messages", chat, "--all", "--json").json
                    let asked = messages.filter { $0["role"]?.string == "user" }
                    #expect(asked.map { $0["text"]?.string } == ["one", "two", "three"])
                }
                try process.interrupt()
            }
            #expect(result.status == 130, "\(result)")
        }
    }

    @Test("A damaged outbox of a host in sight is reported, and once")
    func damagedOutbox() async throws {
        try await withWaitingPrompt { host, words, user, _ in
            let directory = user.data + "/outbox"
            let names = try FileManager.default.contentsOfDirectory(atPath: directory).filter { $0.hasSuffix("json") }
            let name = try #require(names.first)
            try Data("{bad".utf8).write(to: URL(filePath: "\(directory)/\(name)"))
            let result = try await attending(user) { process in
                try await withRunningHost(host, words) { _ in
                    try await process.messages.has("\(name) is damaged")
                }
                try process.interrupt()
            }
            #expect(result.status == 130, "\(result)")
            #expect(result.err.ranges(of: "\(name) is damaged").count == 1, "\(result)")
        }
    }

    @Test("A Mac that does not advertise itself is named by its address, and needs consent")
    func legacy() async throws {
        try await withFakeMac { mac in
            try await Sandbox.with { user in
                let expiry = Date().addingTimeInterval(300)
                let code = PairingPayload(code: "482913", token: FakeMacScript().token, expiresAt: expiry)
                let picture = try picture(code.text)
                let auto = ["--json", "--url", "http://\(mac.endpointText)"]
                for strict in [[], ["--require", "verified"], ["--allow-legacy", "--read-only"]] {
                    let refused = try await attending(user, auto + strict) { process in
                        _ = try user.file("shots/\(strict.count).png", picture)
                        try await process.messages.has("auto.legacy_refused")
                        try process.interrupt()
                    }
                    #expect(refused.status == 130)
                }
                #expect(mac.requests("POST", "/companion/pairing/complete").isEmpty, "nothing was sent")
                let paired = try await attending(user, auto + ["--allow-legacy"]) { _ in
                    _ = try user.file("shots/code.png", picture)
                }
                #expect(paired.status == 0, "\(paired)")
                #expect(try paired.json[0]["trust"]?.string == "legacy")
                #expect(mac.requests("POST", "/companion/pairing/complete").count == 1)
            }
        }
    }

    @Test("A directory that goes away ends it with an error, where there is no other place to look at")
    func directoryGone() async throws {
        try await Sandbox.with { user in
            let result = try await attending(user, ["--json"]) { _ in
                let removed = try await user.shell("rm -r shots")
                #expect(removed.status == 0)
            }
            #expect(result.status == 1)
            #expect(result.failed(with: "desktop.directory_gone"))
        }
    }
}
