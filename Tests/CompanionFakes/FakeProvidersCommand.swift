import ArgumentParser
import CompanionTestSupport

struct FakeProvidersCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "providers",
        abstract: "Providers of language models that have one answer, in the formats of all that are known."
    )

    @Option(help: "The port. Default: any free one.")
    var port = 0

    func validate() throws {
        if !(0...65535).contains(port) { throw ValidationError("\(port) is no port.") }
    }

    func run() async throws {
        try await withFakeProviders(port: port) { fake in
            try StandardStreams.write(line: #"{"address":"127.0.0.1","family":"providers","port":\#(fake.port)}"#)
            await StandardStreams.inputEnd()
        }
    }
}
