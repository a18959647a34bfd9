import ArgumentParser
import CompanionApp
import CompanionClient
import CompanionWire
import PairingAgent
import Terminal

struct HostWorktreesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "worktrees",
        abstract: "List where the running host's agent works in git repositories, and remove its worktrees.",
        discussion: """
            Examples:
              pairtool host worktrees
              pairtool host worktrees show ee5f
              pairtool host worktrees remove ee5f --force
            """,
        subcommands: [List.self, Show.self, Remove.self],
        defaultSubcommand: List.self
    )

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list",
            abstract: "List the sessions, newest first.",
            discussion: """
                Examples:
                  pairtool host worktrees list
                  pairtool host worktrees list --json
                """
        )

        @OptionGroup var options: OutputOptions

        func run() async throws {
            try options.output.list(try await options.output.owner.worktrees(), place: "on your host")
        }
    }

    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "show",
            abstract: "Show a session, and what would be lost with its worktree.",
            discussion: """
                Examples:
                  pairtool host worktrees show ee5f
                  pairtool host worktrees show pairtool/ee5f0a12 --json
                """
        )

        @Argument(help: "The session, by its chat's title or id prefix, or by its branch.")
        var session: String

        @OptionGroup var options: OutputOptions

        func run() async throws {
            let output = options.output
            let chat = try await output.ownWorktree(session).id
            output.show(try await output.owner.worktree(ofChat: chat))
        }
    }

    struct Remove: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "remove",
            abstract: "Remove a session's worktree and branch.",
            discussion: """
                A worktree is kept if work would be lost with it: files that are in no commit, commits that no other \
                branch or tag leads to (including those in its reflog), or an unfinished git operation, such as a \
                rebase. --force removes it anyway, within seconds, whatever an agent did to the files or the \
                repository.

                Examples:
                  pairtool host worktrees remove ee5f
                  pairtool host worktrees remove ee5f --force
                """
        )

        @Argument(help: "The session, by its chat's title or id prefix, or by its branch.")
        var session: String

        @Flag(help: "Remove it anyway, even if work is lost with it or it is locked.")
        var force = false

        @OptionGroup var options: OutputOptions

        func run() async throws {
            let output = options.output
            let chat = try await output.ownWorktree(session).id
            output.showRemoved(try await output.owner.removeWorktree(ofChat: chat, isForced: force))
        }
    }
}

struct HostChangesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "changes",
        abstract: "Show what the running host's agent has changed since a chat's session began.",
        discussion: """
            Examples:
              pairtool host changes ee5f
              pairtool host changes ee5f --stat
            """
    )

    @Argument(help: "The chat, by title or id prefix, or by its branch.")
    var chat: String

    @OptionGroup var view: ChangesOptions
    @OptionGroup var rendering: RenderingOptions
    @OptionGroup var options: OutputOptions

    func run() async throws {
        var output = options.output
        output.isPlain = rendering.plain
        let chat = try await output.ownWorktree(chat).id
        let changes = try await output.owner.changes(chatID: chat, wantsDifference: !view.stat, file: view.file)
        let shown = ChangesView(output: output, changes: changes)
        try await shown.show(file: view.file, avoidsPager: view.pager.avoidsPager)
    }
}

extension Output {
    /// The session of this user's host that the user named.
    fileprivate func ownWorktree(_ word: String) async throws -> Worktree {
        try Worktree.find(word, in: try await owner.worktrees(), listing: "pairtool host worktrees")
    }
}
