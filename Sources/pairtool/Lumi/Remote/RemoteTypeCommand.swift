import ArgumentParser
import CompanionClient
import CompanionWire
import PairingAgent

struct RemoteTypeCommand: RemoteSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "type",
        abstract: "Type text on the Mac.",
        discussion: """
            The text travels without encryption, like everything that is sent to a Lumi host.

            Examples:
              pairtool lumi remote type "hello"
              pairtool lumi remote type - < text.txt
            """
    )

    @Argument(help: "The text; - for standard input, so that others on this machine do not see it.")
    var text: String

    @OptionGroup var host: HostOptions
    @OptionGroup var options: OutputOptions

    func run() async throws {
        let typed = try LumiTypedText(try await RemoteInput.text(text, context: .current))
        let request = LumiRequest.type(typed)
        try await withMac { mac in
            // What the Mac says to it repeats the text.
            try await mac.client.perform(request)
            let row = RemoteResult(hostId: mac.host.id, command: request.command, result: "Typed")
            mac.output.result(row, id: nil) { "Typed \(typed.text.count) characters." }
        }
    }
}

/// A text that stands on the command line, or comes by standard input.
enum RemoteInput {
    /// Bytes of standard input.
    private static let limit = 1 << 20

    /// - Parameter word: The text itself, or `-`. One line feed at the end of standard input is left out.
    static func text(_ word: String, context: CommandContext) async throws -> String {
        guard word == "-" else { return word }
        guard let bytes = try await context.content(limit: limit) else {
            throw CommandError(.usage, "remote.input", "standard input has more than 1 MiB")
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw CommandError(.usage, "remote.input", "standard input is not text in UTF-8")
        }
        return text.ends(with: "\n") ? String(text.dropLast()) : text
    }
}
