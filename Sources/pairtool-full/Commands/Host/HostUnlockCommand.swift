import ArgumentParser
import CommandCore
import CompanionHost

struct HostUnlockCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "unlock",
        abstract: "Open pairing again after too many wrong codes locked it."
    )

    @OptionGroup var options: OutputOptions

    func run() async throws {
        let output = options.output
        let before = try await output.ask(AdminRequest(.status)).status
        guard let status = try await output.ask(AdminRequest(.unlock)).status else { throw CommandError.strangeAnswer }
        output.result(HostStatusRow(status), id: status.id) {
            before?.pairingLocked == false
                ? "Pairing was not locked; wrong codes are counted from none again."
                : "Pairing is open again: the host shows a new code."
        }
    }
}
