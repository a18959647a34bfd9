import CompanionTestSupport
import CompanionWire
import FoundationEssentials
import Identity
import Testing

/// `watch` and `status --watch` with a host of v1, which tells nothing by itself: it is asked again and again.
@Suite(.serialized, .timeLimit(.minutes(15))) struct LegacyWatchTests {
    /// A user who has paired with a Mac, which can be switched off while something else goes on.
    private func withPairedUser(
        _ body: @Sendable (Sandbox, FakeMac, _ off: @escaping @Sendable () async -> Void) async throws -> Void
    ) async throws {
        let (macs, found) = AsyncStream.makeStream(of: FakeMac.self)
        let (ends, end) = AsyncStream.makeStream(of: Void.self)
        let (ruins, gone) = AsyncStream.makeStream(of: Void.self)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                defer {
                    found.finish()
                    gone.finish()
                }
                try await withFakeMac { mac in
                    found.yield(mac)
                    for await _ in ends {}
                }
            }
            defer { end.finish() }
            let mac = try #require(await macs.first { _ in true })
            try await Sandbox.with { user in
                await user.pair(mac)
                try await body(user, mac) {
                    end.finish()
                    for await _ in ruins {}
                }
            }
        }
    }

    /// Waits until a look at a Mac is over: the next one has begun.
    private func looked(at mac: FakeMac) async throws {
        let before = mac.requests("GET", "/companion/status").count
        try await mac.asked("GET", "/companion/status", times: before + 2)
    }

    @Test("Other devices, changed projects and chats, and a host that goes and comes are events")
    func watch() async throws {
        try await withPairedUser { user, mac, off in
            try PairedHostStore(directory: user.data).update { $0.hosts[0].name = "Studio" }
            let (_, result) = try await user.follow(["watch", "--interval", "0.02s", "--json"]) { watch in
                try await looked(at: mac)
                mac.connect(name: "Tablet")
                let left = try await watch.events.first("device.disconnected")
                let come = try await watch.events.first("device.connected")
                #expect(left["deviceName"]?.string == "desk" && come["deviceName"]?.string == "Tablet")
                mac.change { script in
                    script.projects[2].lastUpdatedAt = FakeMacScript.epoch + 60
                    script.chats[2].lastUpdatedAt = FakeMacScript.epoch + 60
                }
                let project = try await watch.events.first("project.changed")
                let chat = try await watch.events.first("chat.changed")
                #expect(project["projectId"]?.string == "p-api")
                #expect(chat["chatId"]?.string == "c-api" && chat["projectId"]?.string == "p-api")
                await off()
                let lost = try await watch.events.first("interrupted")
                #expect(lost["message"]?.string?.contains("Studio (127.0.0.1:") == true, "\(lost)")
                // It is back as it was at first, and that is news.
                try await withFakeMac(port: mac.port) { _ in
                    let back = try await watch.events.first("device.connected") {
                        $0["deviceName"]?.string == "iPhone"
                    }
                    #expect(back["at"] != nil)
                }
                try watch.interrupt()
            }
            #expect(result.status == 130, "\(result)")
            let types = try result.json.compactMap { $0["type"]?.string }
            let expected = [
                "device.disconnected", "device.connected", "project.changed", "chat.changed", "interrupted",
                "resumed", "device.disconnected", "device.connected",
            ]
            #expect(Array(types.prefix(expected.count)) == expected, "each once, in this order: \(types)")
        }
    }

    @Test("What waits for a host goes out when the host is back, and the next prompt of the chat when that is answered")
    func outbox() async throws {
        try await withPairedUser { user, mac, _ in
            #expect(await user.run("chats").status == 0)
            let words = ["watch", "--all-hosts", "--interval", "0.02s", "--json"]
            let (_, result) = try await user.follow(words) { watch in
                try await looked(at: mac)
                mac.change { $0.faults = [FakeMacFault(.close)] }
                _ = try await watch.events.first("interrupted")
                for prompt in ["one", "two"] {
                    #expect(await user.run("send", "c-login", prompt, "--queue").status == 0)
                }
                mac.change { $0.faults = [] }
                let path = "/companion/chats/c-login/continue"
                try await mac.asked("POST", path, times: 1)
                while mac.messages(of: "c-login").last?.role != .assistant {
                    try Task.checkCancellation()
                    await Task.yield()
                }
                mac.change { script in
                    let now = FakeMacScript.epoch + 3600
                    for index in script.projects.indices { script.projects[index].lastUpdatedAt = now }
                    for index in script.chats.indices { script.chats[index].lastUpdatedAt = now }
                }
                try await mac.asked("POST", path, times: 2)
                try watch.interrupt()
            }
            #expect(result.status == 130, "\(result)")
            #expect(mac.messages(of: "c-login").filter { $0.role == .user }.map(\.text) == ["one", "two"])
        }
    }

    @Test("status --watch tells who is connected, and whether the host is there")
    func status() async throws {
        try await withPairedUser { user, mac, off in
            let words = ["status", "--watch", "--interval", "0.02s", "--json"]
            let (_, result) = try await user.follow(words) { watch in
                let first = try await watch.events.firstLine("on", where: { $0["reachable"] == .bool(true) })
                #expect(first["trust"]?.string == "legacy" && first["connected"] == .bool(true))
                mac.connect(name: "Tablet")
                let other = try await watch.events.firstLine("another device") {
                    $0["connectedDevice"]?["name"]?.string == "Tablet"
                }
                #expect(other["connected"] == .bool(false))
                mac.change { $0.isSignedIn = false }
                _ = try await watch.events.firstLine("signed out", where: { $0["signedIn"] == .bool(false) })
                await off()
                let gone = try await watch.events.firstLine("off", where: { $0["reachable"] == .bool(false) })
                #expect(gone["problem"]?.string?.isEmpty == false)
                try await withFakeMac(port: mac.port) { mac in
                    mac.connect(name: "Back again")
                    let back = try await watch.events.firstLine("back") {
                        $0["connectedDevice"]?["name"]?.string == "Back again"
                    }
                    #expect(back["signedIn"] == .bool(true))
                }
                try watch.interrupt()
            }
            #expect(result.status == 130, "\(result)")
            let isThere = try result.json.map { $0["reachable"] == .bool(true) }
            let turns = zip(isThere, isThere.dropFirst()).filter { $0 != $1 }.map(\.1)
            #expect(turns.starts(with: [false, true]), "on, off, on: \(isThere)")
        }
    }
}

extension FakeMac {
    /// Waits until it was asked for a path so often.
    func asked(_ method: String, _ path: String, times: Int) async throws {
        while requests(method, path).count < times {
            try Task.checkCancellation()
            await Task.yield()
        }
    }
}
