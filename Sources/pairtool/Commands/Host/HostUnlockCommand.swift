import ArgumentParser
import CompanionHost

struct HostUnlockCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "unlock",
        abstract: "Open pairing again after too many wrong codes locked it."
    )

    @OptionGroup var options: OutputOptions

    func run() async throws {
        let output = options.output
        guard let status = try await output.ask(AdminRequest(.unlock)).status else { throw CommandError.strangeAnswer }
        output.result(HostStatusRow(status), id: status.id) { "Pairing is open again: the host shows a new code." }
    }
}
