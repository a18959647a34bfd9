import ArgumentParser
import CompanionHost

struct HostUnlockCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "unlock",
        abstract: "Accept six digits again after too many wrong ones.",
        discussion: """
            Example:
              pairtool host unlock
            """
    )

    @OptionGroup var options: OutputOptions

    func run() async throws {
        let output = options.output
        let before = try await output.ask(AdminRequest(.status)).status
        guard let status = try await output.ask(AdminRequest(.unlock)).status else { throw CommandError.strangeAnswer }
        output.result(HostStatusRow(status), id: status.id) {
            before?.pairingLocked == false
                ? "The digits were not locked. The count of wrong codes starts again."
                : "The digits are unlocked. "
                    + (status.challengeExpiresAt == nil
                        ? "For a code: pairtool host pair" : "The host shows a new code.")
        }
    }
}
