import ArgumentParser
import CompanionTestSupport
import CompanionWire

struct FakeJarvisCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "jarvis",
        abstract: "A Jarvis daemon with three requests for approval. It has no mDNS."
    )

    @OptionGroup var options: FakeOptions
    @Option(help: "The bearer token that it wants. Default: none.")
    var token: String?

    func run() async throws {
        var script = FakeJarvisScript()
        script.token = token
        try await withFakeJarvis(script, port: options.port) { jarvis in
            try await options.serve(.jarvis, address: jarvis.address, port: jarvis.port)
        }
    }
}
