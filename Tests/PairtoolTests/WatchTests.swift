import CompanionWire
import FoundationEssentials
import Testing

@testable import pairtool

/// `watch` and `status --watch` with the built host.
@Suite(.serialized, .timeLimit(.minutes(15))) struct WatchTests {
    @Test("What happens at the host comes as lines of JSON; a revocation ends it with exit code 9")
    func watch() async throws {
        try await withVerifiedHost { events, host, user in
            let id = try await events.payload.host
            let (_, result) = try await user.follow(["watch", "--json"]) { watch in
                let hello = try await watch.events.first("hello")
                #expect(hello["hostId"]?.string == id)

                let sent = try await user.spawn(["send", "--new", "--project", "garden", "hello"])
                #expect(sent.status == 0, "\(sent)")
                let started = try await watch.events.first("turn.started")
                let atHost = try await events.first("turn_started")
                #expect(started["chatId"] == atHost["chatId"] && started["turnId"] == atHost["turnId"])
                let finished = try await watch.events.first("turn.finished")
                #expect(finished["turnId"] == started["turnId"] && finished["ok"] == .bool(true))

                try await Sandbox.with { guest in
                    try await guest.pair(try await host.newChallenge(), as: "guest")
                }
                let guest = try await watch.events.first("device.connected") { $0["deviceName"] == .text("guest") }
                #expect(try await host.spawn(["host", "revoke", "guest"]).status == 0)
                let other = try await watch.events.first("device.revoked")
                #expect(other["deviceId"] == guest["deviceId"], "another device's end is news, and no more")
                #expect(try await user.spawn(["projects"]).status == 0)

                #expect(try await host.spawn(["host", "revoke", "desk"]).status == 0)
                _ = try await events.first("revoked") { $0["deviceId"] != guest["deviceId"] }
                try await watch.events.ended()
            }
            #expect(result.status == 9, "\(result)")
            let code = try result.errorCode
            #expect(code == "host.revoked")
            for line in try result.json { #expect(line["type"] != nil && line["at"] != nil, "\(line)") }
        }
    }

    @Test("At a terminal, chats, projects and devices are shown by name, also one that is revoked")
    func names() async throws {
        try await withVerifiedHost { events, host, user in
            try await user.atTerminal(["watch"]) { terminal in
                try await terminal.shows("Connected;")
                let sent = try await user.spawn(["send", "--new", "--project", "garden", "hello there"])
                #expect(sent.status == 0, "\(sent)")
                try await terminal.shows("turn.started  “hello there” in garden")
                try await terminal.shows("turn.finished  “hello there” in garden  ok")
                try await Sandbox.with { guest in
                    try await guest.pair(try await host.newChallenge(), as: "guest")
                }
                try await terminal.shows("device.connected  guest")
                #expect(try await host.spawn(["host", "revoke", "guest"]).status == 0)
                try await terminal.shows("device.revoked  guest")
                try await terminal.type("\u{3}")
                #expect(try await terminal.status == 130)
            }
        }
    }

    @Test("status --watch shows the host once, and a revocation ends it with exit code 9")
    func status() async throws {
        try await withVerifiedHost { events, host, user in
            let (_, result) = try await user.follow(["status", "--watch", "--json"]) { watch in
                let first = try await watch.events.firstLine("connected", where: { $0["connected"] == .bool(true) })
                #expect(first["trust"]?.string == "verified")
                #expect(first["permissions"] == .list(CompanionPermission.all.map { .text($0.rawValue) }))
                #expect(try await host.spawn(["host", "revoke", "desk"]).status == 0)
                _ = try await events.first("revoked")
                try await watch.events.ended()
            }
            #expect(result.status == 9, "\(result)")
            let code = try result.errorCode
            #expect(code == "host.revoked")
        }
    }

    @Test("A host that is told to end does not wait for those who watch it, and they say that it is gone")
    func hostEnds() async throws {
        try await withProject { host, user in
            let arguments = ["--port", "0", "--engine", "embedded", "--project", host.directory + "/garden"]
            let hosting = try await host.follow(["host", "--json", "--show-secrets"] + arguments) { server in
                let shown = try await server.events.first("challenge")
                try await user.pair(try #require(shown["qrPayload"]?.string))
                let watching = try await user.follow(["watch", "--json"]) { watch in
                    _ = try await watch.events.first("hello")
                    try server.interrupt()
                    try await server.events.ended()
                    _ = try await watch.events.first("interrupted")
                    try watch.interrupt()
                }
                #expect(watching.result.status == 130, "\(watching.result)")
            }
            #expect(hosting.result.status == 0)
        }
    }

    @Test(
        "A host that is off is waited for, and watched once it is there",
        arguments: ["watch", "approvals", "status"]
    )
    func off(command: String) async throws {
        try await withProject { host, user in
            let words = ["--project", host.directory + "/garden", "--name", "Shed"]
            try await withRunningHost(host, words) { try await user.pair(try await $0.payload.text) }
            let words2 = [command] + (command == "watch" ? [] : ["--watch"]) + ["--interface", "lo", "--json"]
            let (_, result) = try await user.follow(words2, environment: ["PAIRTOOL_ENGINE": "embedded"]) { watch in
                try await watch.messages.has("Waiting for the host. Ctrl-C ends it.")
                try await withRunningHost(host, words) { _ in
                    switch command {
                    case "watch": _ = try await watch.events.first("hello")
                    case "status":
                        let row = try await watch.events.firstLine("a host that answers") {
                            $0["reachable"] == .bool(true) && $0["connected"] == .bool(true)
                        }
                        #expect(row["name"] == .text("Shed"))
                    default: try await watch.messages.has("Watching 127.0.0.1")
                    }
                    try watch.interrupt()
                }
            }
            #expect(result.status == 130, "\(result)")
        }
    }

    @Test("Ctrl-C ends a watch with exit code 130")
    func interrupt() async throws {
        try await withVerifiedHost { _, _, user in
            let (_, result) = try await user.follow(["watch", "--json"]) { watch in
                _ = try await watch.events.first("hello")
                try watch.interrupt()
            }
            #expect(result.status == 130, "\(result)")
        }
    }
}
