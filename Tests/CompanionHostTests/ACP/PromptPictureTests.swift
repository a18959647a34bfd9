import CompanionTestSupport
import CompanionWire
import FoundationEssentials
import Testing

@testable import CompanionHost

/// Pictures of prompts, from a device to an agent.
@Suite("Pictures in prompts", .timeLimit(.minutes(15)))
struct PromptPictureTests {
    private static let png: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
    private static let jpeg: [UInt8] = [0xFF, 0xD8, 0xFF] + [UInt8](repeating: 7, count: 3_000_000)

    private func withDevice(
        _ options: [String]?,
        _ body: (TestDevice, _ chat: String) async throws -> Void
    ) async throws {
        try await withTemporaryDirectory { directory in
            let command = try FakeACPAgent.command(in: directory) + (options ?? [])
            try await withHostAndDevice(in: directory) {
                if options != nil { $0.agent = .acp(ACPLaunch(id: "fake", name: "Fake", command: command)) }
            } _: { _, device in
                try await device.pair()
                let made = try await device.execute(.chatCreate(projectID: try await device.firstProject(), title: nil))
                try await body(device, try #require(made.result["id"]?.string))
            }
        }
    }

    private func send(_ images: [TurnImage], to chat: String, of device: TestDevice) async throws -> Reply {
        let payload = CommandPayload.chatSend(
            chatID: chat,
            prompt: "pictures",
            model: nil,
            allowedTools: nil,
            images: images
        )
        return try await device.command(payload, now: Date())
    }

    @Test("An agent that takes pictures gets them as they are, megabytes too, and the device hears how many")
    func taken() async throws {
        try await withDevice(["images"]) { device, chat in
            let images = [
                TurnImage(bytes: Self.png, mediaType: "image/png"),
                TurnImage(bytes: Self.jpeg, mediaType: "image/jpeg"),
            ]
            let sent: CanonicalJSON = try await send(images, to: chat, of: device).result()
            #expect(sent["images"] == 2)
            let reply = try await device.events(chat: chat, turn: try #require(sent["turnId"]?.string))
            #expect(reply.body.contains(#"[[\"image\", \"image/png\", 12], [\"image\", \"image/jpeg\", 4000004]]"#))
            let models = try await device.get("/models").decoded(CompanionModelsResponse.self).models.elements
            #expect(models.map { $0.capabilities?.supports?.vision } == [true])
        }
    }

    @Test("An agent that takes none gets no prompt, and the sender hears why")
    func refused() async throws {
        try await withDevice([]) { device, chat in
            let image = TurnImage(bytes: Self.png, mediaType: "image/png")
            let sent: CanonicalJSON = try await send([image], to: chat, of: device).result()
            let reply = try await device.events(chat: chat, turn: try #require(sent["turnId"]?.string))
            #expect(reply.body.contains("Fake takes no pictures: the prompt was not sent"), "\(reply.body)")
            // Now it is known.
            let later = try await send([image], to: chat, of: device)
            #expect(later.status == 400 && later.body.contains("This agent takes no pictures"), "\(later)")
        }
        try await withDevice(nil) { device, chat in
            let reply = try await send([TurnImage(bytes: Self.png, mediaType: "image/png")], to: chat, of: device)
            #expect(reply.status == 400 && reply.body.contains("This agent takes no pictures"), "\(reply)")
        }
    }

    @Test("What is no picture, of another type than it says, too large or too many is no command")
    func malformed() async throws {
        try await withDevice(["images"]) { device, chat in
            let png = TurnImage(bytes: Self.png, mediaType: "image/png")
            let large = TurnImage(bytes: Self.jpeg + [UInt8](repeating: 0, count: 800_000), mediaType: "image/jpeg")
            for images in [
                [TurnImage(bytes: Array("text".utf8), mediaType: "image/png")],
                [TurnImage(bytes: Self.png, mediaType: "text/html")], [large],
                Array(repeating: png, count: TurnImage.mostPictures + 1),
            ] {
                let reply = try await send(images, to: chat, of: device)
                #expect(reply.status == 400 && reply.code == .commandBadShape, "\(reply)")
            }
        }
    }
}
