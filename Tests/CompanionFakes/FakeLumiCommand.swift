import ArgumentParser
import CompanionTestSupport
import CompanionWire
import Discovery

struct FakeLumiCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "lumi",
        abstract: "A Mac with Lumi, whose user accepts each connection at its second ping."
    )

    @OptionGroup var options: FakeOptions

    func run() async throws {
        try await withFakeLumi(port: options.port) { mac in
            try await options.serve(
                .lumi,
                address: mac.address,
                port: mac.port,
                as: Advertisement(name: mac.script.hostName, services: [(.lumi, mac.port, [])])
            )
        }
    }
}
