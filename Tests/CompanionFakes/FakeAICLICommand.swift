import ArgumentParser
import CompanionTestSupport
import CompanionWire
import Discovery

struct FakeAICLICommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "aicli",
        abstract: "An AICLI server with three projects, whose agent says what it was told."
    )

    @Flag(help: "The newest generation, which answers to telephones only.")
    var newest = false

    @OptionGroup var options: FakeOptions

    func run() async throws {
        try await withFakeAICLI(FakeAICLIScript(newest ? .http : .ws), port: options.port) { server in
            let txt = [
                ("version", "1.0.0"), ("features", "chat,streaming,permissions"), ("auth", "required"),
                ("tls", "disabled"), ("protocol", "ws"),
            ]
            try await options.serve(
                .aicli,
                address: "127.0.0.1",
                port: server.port,
                as: Advertisement(name: "AICLI Companion Server", services: [(.aicli, server.port, txt)]),
                more: ["token": server.token ?? ""]
            )
        }
    }
}
