import ArgumentParser

/// Fake hosts of other families, to try the tool out without the machines: what tests speak to, as a program.
@main
struct CompanionFakes: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "companion-fakes",
        abstract: "Run a fake host, on this machine only.",
        discussion: "Prints a line of JSON when it listens, and ends with its standard input, or by a signal.",
        subcommands: [
            FakeMacCommand.self, FakeLumiCommand.self, FakeAICLICommand.self, FakeJarvisCommand.self,
            FakeProvidersCommand.self,
        ]
    )
}
