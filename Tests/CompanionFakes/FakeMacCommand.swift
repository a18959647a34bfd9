import ArgumentParser
import CompanionTestSupport
import CompanionWire

struct FakeMacCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "copilotforge",
        abstract: "A Mac of protocol 1 with two projects, which says what it was told.",
        discussion: "It cuts the titles of new chats as deployed Macs do, inside a character too."
    )

    @OptionGroup var options: FakeOptions

    func run() async throws {
        var script = FakeMacScript()
        script.isPaired = false
        try await withFakeMac(script, port: options.port) { mac in
            try await options.serve(
                .copilotforge,
                address: mac.address,
                port: mac.port,
                more: ["code": script.code]
            )
        }
    }
}
