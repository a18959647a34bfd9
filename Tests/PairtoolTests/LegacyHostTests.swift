import CompanionClient
import CompanionWire
import FoundationEssentials
import Identity
import Testing

@testable import pairtool

/// Both sides are ours, and what they speak is v1: `pairtool host --legacy`, and a user who was paired by v1.
@Suite(.serialized, .timeLimit(.minutes(15))) struct LegacyHostTests {
    /// Pairs as a client of v1 does: pairtool takes v2 where a host offers it.
    private func pair(_ user: Sandbox, _ payload: PairingPayload, port: Int) async throws {
        let endpoint = try #require(CompanionEndpoint("127.0.0.1:\(port)"))
        let request = PairingCompleteRequest(
            pairingCode: payload.code,
            pairingToken: nil,
            deviceName: "desk",
            devicePublicKey: Base64.encode(SecureRandom.bytes(32))
        )
        let status = try await CompanionAPIClient.withClient(endpoint: endpoint) {
            try await $0.completePairing(request)
        }
        let device = try #require(status.connectedDevice)
        try PairedHostStore(directory: user.directory + "/data/pairtool").update { hosts in
            hosts.record(
                PairedHost(
                    id: payload.host ?? "",
                    name: "Shed",
                    family: .copilotforge,
                    trust: .legacy,
                    endpoint: endpoint,
                    deviceID: device.id,
                    pairedAt: Date()
                )
            )
        }
    }

    @Test("Projects, a new chat, its answer, its history and the end of the connection")
    func wholeChat() async throws {
        try await withProject { host, user in
            let arguments = ["--legacy", "--project", host.directory + "/garden", "--name", "Shed"]
            try await withRunningHost(host, arguments) { events in
                try await pair(user, events.payload, port: events.ports.plain)
                #expect(try await events.first("paired")["deviceName"]?.string == "desk")
                let status = await user.run("status", "--json")
                #expect(status.status == 0, "\(status)")
                #expect(try status.json[0]["trust"]?.string == "legacy")
                #expect(try status.json[0]["connected"] == .bool(true))
                #expect(try await user.run("projects", "--json").json.map { $0["name"]?.string } == ["garden"])

                let words = ["send", "--new", "--project", "garden", "read README.md"]
                let sent = try await user.spawn(words + ["--json"])
                #expect(sent.status == 0, "\(sent)")
                let finished = try #require(try sent.json.last)
                #expect(finished["type"]?.string == "finished")
                let answer = try #require(finished["answer"]?.string)
                #expect(answer.contains("Roses and beans."))
                let started = try await events.first("turn_started")
                let chat = try #require(started["chatId"]?.string)

                let again = await user.run("send", chat, "list", "--json")
                #expect(again.status == 0, "\(again)")
                let chats = await user.run("chats", "garden", "--json")
                #expect(try chats.json.map { $0["id"]?.string } == [chat])
                let messages = try await user.run("messages", chat, "--json").json
                #expect(messages.map { $0["role"]?.string } == ["user", "assistant", "user", "assistant"])
                #expect(messages.map { $0["text"]?.string }.prefix(3) == ["read README.md", answer, "list"])

                let strict = await user.run("send", chat, "list", "--require", "verified", "--json")
                #expect(strict.status == 13, "\(strict)")
                #expect(await user.run("disconnect", "--yes").status == 0)
                let after = await user.run("projects", "--json")
                #expect(after.status == 5, "\(after)")
            }
        }
    }
}
