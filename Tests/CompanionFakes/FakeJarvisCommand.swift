import ArgumentParser
import CompanionTestSupport
import CompanionWire

struct FakeJarvisCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "jarvis",
        abstract: "A Jarvis daemon with three requests for approval. It has no mDNS."
    )

    @OptionGroup var options: FakeOptions

    func run() async throws {
        try await withFakeJarvis(port: options.port) { jarvis in
            try await options.serve(.jarvis, address: jarvis.address, port: jarvis.port)
        }
    }
}
