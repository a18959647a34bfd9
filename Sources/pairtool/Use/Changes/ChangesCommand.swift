import ArgumentParser
import CompanionApp
import CompanionClient
import CompanionWire
import Terminal

struct ChangesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "changes",
        abstract: "Show what the agent has changed since a chat's session began.",
        discussion: """
            The project has to be a git repository. New files are included, committed or not; changes made before the \
            session are not. Files over 8 MiB are listed without their content.

            Examples:
              pairtool changes "show beds"
              pairtool changes "show beds" --stat
              pairtool changes ee5f beds/water.py --no-pager
            """
    )

    @Argument(
        help: "The chat, by title or id prefix.",
        completion: .custom { words, _, _ in await Completions.chats(words) }
    )
    var chat: String

    @OptionGroup var view: ChangesOptions
    @OptionGroup var rendering: RenderingOptions
    @OptionGroup var host: HostOptions
    @OptionGroup var options: OutputOptions

    func run() async throws {
        var output = options.output
        output.isPlain = rendering.plain
        let environment = output.environment()
        try await host.selector.holding(chat: chat, in: environment).withSession(environment) { session in
            let host = try session.changes
            let chat = try await session.chat(chat).chat
            let changes = try await host.changes(chatID: chat.id, wantsDifference: !view.stat, file: view.file)
            try await ChangesView(output: output, changes: changes)
                .show(file: view.file, avoidsPager: view.pager.avoidsPager)
        }
    }
}

/// The options that select the changes to show.
struct ChangesOptions: ParsableArguments {
    @Argument(
        help: "Show only this file, or the files in this directory, relative to the directory that the agent works in."
    )
    var file: String?

    @Flag(help: "List the files without the diffs.")
    var stat = false

    @OptionGroup var pager: PagerOptions

    func validate() throws {
        if let file, file.utf8.isEmpty { throw ValidationError("The name of the file is empty.") }
    }
}
