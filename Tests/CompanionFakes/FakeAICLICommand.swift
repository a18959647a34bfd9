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

    @Flag(help: "A build of late July 2025: sessions begin with a prompt, and prompts get no reply.")
    var july = false

    @Flag(help: "Sends no welcome.")
    var noWelcome = false

    @Flag(help: "Lists sessions, but cannot continue them.")
    var noContinue = false

    @Flag(help: "Looks at the token where real servers do: at /ws and /api/sessions/continue.")
    var laxToken = false

    @Flag(help: "Speaks TLS, with a certificate of its own.")
    var tls = false

    @Option(
        help: "What the agent answers to each prompt, with chunks of types that no client knows. Default: the prompt."
    )
    var answer: String?

    @Flag(help: "The agent asks whether it may use Bash, before it answers the first prompt.")
    var asks = false

    @OptionGroup var options: FakeOptions

    func validate() throws {
        if newest, july { throw ValidationError("--newest and --july exclude each other.") }
    }

    private var script: FakeAICLIScript {
        var script = FakeAICLIScript(newest ? .http : july ? .july : .ws)
        script.greets = !noWelcome
        script.canContinue = !noContinue
        script.guardsEverything = !laxToken
        if let answer { script.usualAnswer = answer }
        if asks {
            let question = FakeAICLITurn.Step.ask(
                "May I use the Bash tool?",
                options: ["y", "n"],
                tool: nil,
                copies: 2
            )
            script.turns = [FakeAICLITurn([question] + FakeAICLITurn.answering(answer ?? "Done.").steps)]
        }
        return script
    }

    func run() async throws {
        let certificate = tls ? try TestCertificate() : nil
        try await withFakeAICLI(script, port: options.port, certificate: certificate) { server in
            let txt = [
                ("version", "1.0.0"), ("features", "chat,streaming,permissions"), ("auth", "required"),
                ("tls", tls ? "enabled" : "disabled"), ("protocol", tls ? "wss" : "ws"),
            ]
            var more = ["token": server.token ?? ""]
            if let certificate { more["pin"] = certificate.spki }
            try await options.serve(
                .aicli,
                address: "127.0.0.1",
                port: server.port,
                as: Advertisement(name: "AICLI Companion Server", services: [(.aicli, server.port, txt)]),
                more: more
            )
        }
    }
}
