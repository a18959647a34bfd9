import ArgumentParser
import CompanionApp
import CompanionClient
import CompanionWire
import Identity
import PairingAgent
import Terminal

/// Lists the places in git repositories where the agents of a verified host work, and removes their worktrees.
struct WorktreesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "worktrees",
        abstract: "List where agents work in git repositories; remove worktrees.",
        discussion: """
            A host started with `pairtool host --worktree` gives each new session its own worktree and branch beside \
            the project. Name a session by its chat or branch. (For an AICLI host: pairtool aicli sessions.)

            Examples:
              pairtool worktrees
              pairtool worktrees show "show beds"
              pairtool worktrees remove ee5f
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
                  pairtool worktrees list
                  pairtool worktrees list --host Studio --json
                """
        )

        @OptionGroup var host: HostOptions
        @OptionGroup var options: OutputOptions

        func run() async throws {
            try await host.selector.withSession(options.environment) { session in
                try options.output.list(try await session.worktreeClient.worktrees(), place: "on \(session.host.name)")
            }
        }
    }

    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "show",
            abstract: "Show a session, and what would be lost with its worktree.",
            discussion: """
                Examples:
                  pairtool worktrees show "show beds"
                  pairtool worktrees show ee5f --json
                """
        )

        @Argument(help: "The session, by its chat's title or id prefix, or by its branch.")
        var session: String

        @OptionGroup var host: HostOptions
        @OptionGroup var options: OutputOptions

        func run() async throws {
            try await host.selector.withSession(options.environment) { session in
                let (host, chat) = try await session.worktree(self.session)
                options.output.show(try await host.worktree(ofChat: chat))
            }
        }
    }

    struct Remove: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "remove",
            abstract: "Remove a session's worktree and branch.",
            discussion: """
                A worktree is kept if work would be lost with it: files that are in no commit, commits that no other \
                branch or tag leads to (including those in its reflog), or an unfinished git operation, such as a \
                rebase. --force removes it anyway, within seconds. Files do not count if git ignores them now and also \
                by the .gitignore files of the commit where the session began. The chat's messages are kept; its next \
                prompt begins a new session.

                Examples:
                  pairtool worktrees remove "show beds"
                  pairtool worktrees remove ee5f --force
                """
        )

        @Argument(help: "The session, by its chat's title or id prefix, or by its branch.")
        var session: String

        @Flag(help: "Remove it anyway, even if work is lost with it or it is locked.")
        var force = false

        @OptionGroup var host: HostOptions
        @OptionGroup var options: OutputOptions

        func run() async throws {
            try await host.selector.withSession(options.environment) { session in
                let (host, chat) = try await session.worktree(self.session)
                options.output.showRemoved(try await host.removeWorktree(ofChat: chat, isForced: force))
            }
        }
    }
}

extension HostSession {
    /// The client for the worktrees of agents.
    ///
    /// - Throws: ``AppError`` that names the command for hosts whose sessions are something else.
    fileprivate var worktreeClient: any ChangeReporting {
        get throws {
            let family = host.family.behavior.capabilities(of: host, health: nil)
            guard offer.changes == nil,
                let command = family.own.first(where: { $0.capability.isSame(as: "sessions") })?.command
            else { return try changes }
            throw AppError(
                .failed,
                "host.cannot",
                "\(host.family.displayName) hosts such as \(host.name) have a sessions command of their own",
                next: command
            )
        }
    }

    /// The session that the user named, as the id of its chat, and the client for it.
    fileprivate func worktree(_ word: String) async throws -> (host: any ChangeReporting, chat: String) {
        let host = try worktreeClient
        let found = try Worktree.find(word, in: try await host.worktrees(), listing: "pairtool worktrees")
        return (host, found.id)
    }
}
