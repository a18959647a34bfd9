import CompanionTestSupport
import CompanionWire
import FoundationEssentials
import GRDB
import Identity
import Testing

@testable import CompanionHost

/// Sessions with a working tree of their own. The agent runs its prompts as shell scripts.
@Suite("Working trees of sessions", .timeLimit(.minutes(15)))
struct WorktreeTests {
    /// Begins a session with a prompt.
    private func begin(_ device: TestDevice, _ prompt: String) async throws -> (chat: String, reply: Reply) {
        let (chat, turn) = try await device.startTurn(prompt)
        return (chat, try await device.events(chat: chat, turn: turn))
    }

    private func place(_ device: TestDevice, _ chat: String) async throws -> Worktree {
        let reply = try await device.get("/companion/sessions/\(chat)")
        guard reply.status == 200 else { throw TestFailure("\(reply.status): \(reply.body)") }
        return try reply.decoded(WorktreeResponse.self).session
    }

    private func remove(_ device: TestDevice, _ chat: String, force: Bool = false) async throws -> Reply {
        try await device.command(.sessionRemove(chatID: chat, isForced: force))
    }

    @Test("A new session works on a branch of its own beside the project, also after a restart")
    func made() async throws {
        try await TestRepository.with("mkdir d; echo one >d/a; git add -A; git commit -qm one; echo dirty >d/a") {
            repository in
            let chat = try await withGitHost(repository, worktrees: true) {
                (_: TestHost, device: TestDevice) async throws in
                let (chat, reply) = try await begin(device, "pwd; cat d/a; echo b >b; git status --short")
                let short = String(chat.prefix(8))
                let directory = "\(repository.root)-worktrees/\(short)"
                #expect(reply.answer == "\(directory)\none\n?? b\n")
                #expect(
                    reply.frames.contains(.status("Working on the branch pairtool/\(short), in \(directory)"))
                )
                #expect(reply.frames.last == .done(files: 1))
                #expect(!FileManager.default.fileExists(atPath: repository.root + "/b"))
                let changes = try await device.changes(chat)
                #expect(changes.branch == "pairtool/\(short)" && changes.directory == directory)
                #expect(changes.files.elements.map(\.summary) == ["added b +1 -0 untracked"])
                let listed = try await device.get("/companion/sessions").decoded(WorktreesResponse.self)
                #expect(listed.sessions.elements.map(\.branch) == ["pairtool/\(short)"])
                #expect(listed.sessions.elements.first?.title.hasPrefix("pwd; cat d/a") == true)
                let (other, second) = try await begin(device, "pwd")
                #expect(second.answer != reply.answer && other != chat)
                return chat
            }
            try await withGitHost(repository) { (_: TestHost, device: TestDevice) async throws in
                #expect(try await device.ask("echo c >>b", chat) == .done(files: 1))
                #expect(try await device.changes(chat).files.elements.map(\.summary) == ["added b +2 -0 untracked"])
            }
        }
    }

    @Test("It is removed with its branch when nothing is lost, and the next prompt begins a new one")
    func removed() async throws {
        try await TestRepository.with("echo '*.log' >.gitignore; echo 1 >a; git add -A; git commit -qm one") {
            repository in
            try await withGitHost(repository, worktrees: true) { (host: TestHost, device: TestDevice) async throws in
                let (chat, _) = try await begin(device, "echo ignored >x.log")
                let before = try await place(device, chat)
                #expect(before.unsaved == Worktree.Unsaved(files: 0, commits: 0))
                #expect(try await remove(device, chat).status == 200)
                #expect(!FileManager.default.fileExists(atPath: before.directory))
                let left = try await repository.shell("git branch --list 'pairtool/*'; git worktree list")
                #expect(left.split(separator: "\n").count == 1)
                #expect(try await remove(device, chat).status == 404)
                #expect(try await device.get("/companion/chats/\(chat)/changes").code == .changesUnavailable)
                let audit = await host.server.administration.answer(AdminRequest(.audit)).audit ?? []
                #expect(audit.last?.kind == "session.removed" && audit.last?.device == device.id)
                #expect(try await device.ask("echo b >b", chat) == .done(files: 1))
                #expect(try await place(device, chat).directory == before.directory)
            }
        }
    }

    @Test(
        "It stays with unsaved work, unless that is to be lost",
        arguments: [
            ("echo b >b", 1, 0), ("echo x >>a", 1, 0), ("rm a", 1, 0), ("git commit -q --allow-empty -m own", 0, 1),
            ("echo s >a; git add a; echo one >a", 1, 0),
            ("git checkout -q --detach; git commit -q --allow-empty -m d", 0, 1),
            ("mkdir e; cd e; git init -q; echo x >x", 1, 0), ("head -c 9000000 /dev/zero >large", 1, 0),
            ("git commit -q --allow-empty -m o; git checkout -q main~0; echo b >b", 1, 1),
            ("git commit -q --allow-empty -m o; git branch kept", 0, 0),
            ("git commit -q --allow-empty -m o; git tag kept", 0, 0),
            ("mkdir w; echo '*' >w/.gitignore", 1, 0), ("echo '*' >.gitignore", 1, 0),
            ("echo b >b; echo b >>\"$(git rev-parse --git-path info/exclude)\"", 1, 0),
        ]
    )
    func unsaved(script: String, files: Int, commits: Int) async throws {
        try await TestRepository.with { repository in
            try await withGitHost(repository, worktrees: true) { (_: TestHost, device: TestDevice) async throws in
                let names = "export GIT_AUTHOR_NAME=A GIT_AUTHOR_EMAIL=a GIT_COMMITTER_NAME=A GIT_COMMITTER_EMAIL=a; "
                let (chat, reply) = try await begin(device, names + script)
                #expect(reply.body.contains(#""type":"done""#), "\(reply.body)")
                let place = try await place(device, chat)
                #expect(place.unsaved == Worktree.Unsaved(files: files, commits: commits))
                if files + commits > 0 {
                    let refused = try await remove(device, chat)
                    #expect(refused.status == 409 && refused.code == .sessionUnsaved)
                    #expect(refused.error?.contains(files > 0 ? "1 file" : "1 commit") == true)
                    #expect(FileManager.default.fileExists(atPath: place.directory))
                }
                #expect(try await remove(device, chat, force: files + commits > 0).status == 200)
                #expect(!FileManager.default.fileExists(atPath: place.directory))
            }
        }
    }

    @Test(
        "A file is unsaved that git ignores no more, or did not ignore at the start, also once the list is committed",
        arguments: ["echo >.gitignore", "echo '*' >.gitignore; echo w >b", "echo b >>.gitignore; echo w >b"],
        [false, true]
    )
    func changedLists(script: String, isCommitted: Bool) async throws {
        try await TestRepository.with("echo '*.log' >.gitignore; echo 1 >a; git add -A; git commit -qm one") {
            repository in
            try await withGitHost(repository, worktrees: true) { (_: TestHost, device: TestDevice) async throws in
                let (chat, _) = try await begin(device, "echo wanted >x.log")
                let place = try await place(device, chat)
                #expect(place.unsaved?.files == 0)
                let commit = isCommitted ? "; git commit -qam two; git branch kept" : ""
                try await repository.shell("cd '\(place.directory)'; \(script)\(commit)")
                // The list itself, while it is not committed, and `x.log` or `b`.
                #expect(try await self.place(device, chat).unsaved?.files == (isCommitted ? 1 : 2))
                #expect(try await remove(device, chat).code == .sessionUnsaved)
            }
        }
    }

    @Test("One whose agent works stays even then")
    func kept() async throws {
        try await TestRepository.with { repository in
            let gate = repository.root + "-gate"
            try makePipe(gate)
            try await withGitHost(repository, worktrees: true) { (_: TestHost, device: TestDevice) async throws in
                let (chat, turn) = try await device.startTurn("cat '\(gate)'")
                #expect(try await remove(device, chat, force: true).code == .chatBusy)
                async let end = device.events(chat: chat, turn: turn)
                try await blocking { try write("go", to: gate) }
                _ = try await end
                #expect(try await remove(device, chat, force: true).status == 200)
            }
        }
    }

    @Test("A removal that was cut off and is repeated has its answer, and leaves the session that has begun since")
    func repeated() async throws {
        try await TestRepository.with { repository in
            try await withGitHost(repository, worktrees: true) { (host: TestHost, device: TestDevice) async throws in
                let (chat, _) = try await begin(device, "true")
                let health = try await device.get("/health").decoded(CompanionHealthResponse.self)
                let command = try SignedCommand.make(
                    payload: .sessionRemove(chatID: chat, isForced: true),
                    audience: #require(health.hostId),
                    key: device.keys,
                    now: health.serverTime ?? Date()
                )
                // As if the host ended behind the transaction that forgets the session: nothing more is written.
                let database = host.server.administration.audit.database
                try await database.write { database in
                    try database.execute(
                        sql: """
                            CREATE TRIGGER cut BEFORE UPDATE ON seenCommand WHEN OLD.result <> CAST('null' AS BLOB)
                            BEGIN SELECT RAISE(ABORT, 'cut off'); END
                            """
                    )
                }
                #expect(try await device.send("POST", "/companion/command", body: command.body).status == 503)
                try await database.write { try $0.execute(sql: "DROP TRIGGER cut") }
                _ = try await device.ask("true", chat)
                let again = try await place(device, chat)
                #expect(again.isWorktree)
                let answer = try await device.send("POST", "/companion/command", body: command.body)
                    .decoded(CommandResponse.self)
                #expect(answer.replayed && answer.result["session"]?["branch"]?.string?.hasPrefix("pairtool/") == true)
                #expect(try await place(device, chat) == again)
            }
        }
    }

    @Test(
        "A removal that the next host ends is in the audit with who has asked for it, and its command has its answer",
        arguments: [false, true]
    )
    func endedLater(isForced: Bool) async throws {
        try await TestRepository.with { repository in
            try await withGitHost(repository, worktrees: true) { (host: TestHost, device: TestDevice) async throws in
                let (chat, _) = try await begin(device, "true")
                let branch = try #require(try await place(device, chat).branch)
                let health = try await device.get("/health").decoded(CompanionHealthResponse.self)
                let command = try SignedCommand.make(
                    payload: .sessionRemove(chatID: chat, isForced: isForced),
                    audience: #require(health.hostId),
                    key: device.keys,
                    now: health.serverTime ?? Date()
                )
                // As if the host ended when the files were gone: the session stays.
                let administration = host.server.administration
                let database = administration.audit.database
                try await database.write { database in
                    try database.execute(
                        sql: """
                            CREATE TRIGGER cut BEFORE DELETE ON gitSession BEGIN SELECT RAISE(ABORT, 'cut off'); END
                            """
                    )
                }
                #expect(try await device.send("POST", "/companion/command", body: command.body).status == 503)
                try await database.write { try $0.execute(sql: "DROP TRIGGER cut") }
                #expect(try await place(device, chat).branch == branch)
                await administration.services.worktrees.finishInterrupted(within: .seconds(120))
                let row = try #require(await administration.answer(AdminRequest(.audit)).audit?.last)
                #expect(row.kind == "session.removed" && row.device == device.id)
                #expect(
                    row.detail == [
                        "chat": .string(chat), "branch": .string(branch), "forced": .bool(isForced),
                        "endedAtStart": true,
                    ]
                )
                let answer = try await device.send("POST", "/companion/command", body: command.body)
                    .decoded(CommandResponse.self)
                #expect(answer.replayed && answer.result["session"]?["branch"]?.string == branch)
                #expect(try await device.get("/companion/sessions/\(chat)").status == 404)
            }
        }
    }

    @Test("Who may not begin sessions removes none")
    func permission() async throws {
        try await TestRepository.with { repository in
            try await withGitHost(repository, worktrees: true) { (_: TestHost, device: TestDevice) async throws in
                let (chat, _) = try await begin(device, "true")
                var guest = try device.another(in: repository.root + "-guest")
                try await guest.pair(permissions: [.chatSend])
                #expect(try await place(guest, chat).isWorktree)
                #expect(try await remove(guest, chat).code == .permissionDenied)
                // A token alone removes nothing.
                #expect(try await device.send("DELETE", "/companion/sessions/\(chat)").status == 405)
            }
        }
    }

    @Test("Without a commit, or without git, the agent works in the project, and says so")
    func impossible() async throws {
        try await TestRepository.with("true") { repository in
            try await withGitHost(repository, worktrees: true) { (_: TestHost, device: TestDevice) async throws in
                let (chat, reply) = try await begin(device, "pwd")
                #expect(reply.answer == repository.root + "\n" && reply.body.contains("no commit yet"))
                #expect(try await place(device, chat).isWorktree == false)
                try await repository.shell("rm -rf .git")
                let (_, other) = try await begin(device, "pwd")
                #expect(other.answer == repository.root + "\n" && other.body.contains("No git repository"))
            }
        }
    }

    @Test(
        "For a project below the top it is one of the whole repository, and the agent works in the same folder",
        arguments: ["apps/web", "a b/c*d"]
    )
    func folder(name: String) async throws {
        let script = "mkdir -p '\(name)'; echo one >'\(name)/a'; echo top >t; git add -A; git commit -qm one"
        try await TestRepository.with(script) { repository in
            let project = repository.root + "/" + name
            try await withGitHost(repository, worktrees: true, project: project) {
                (_: TestHost, device: TestDevice) async throws in
                let (chat, reply) = try await begin(device, "pwd; cat ../../t; echo b >b; echo y >../../y")
                let short = String(chat.prefix(8))
                let directory = "\(repository.root)-worktrees/\(short)"
                #expect(reply.answer == "\(directory)/\(name)\ntop\n")
                let said = "Working on the branch pairtool/\(short), in \(directory)/\(name)"
                #expect(reply.frames.contains(.status(said)))
                #expect(reply.frames.last == .done(files: 1))
                let changes = try await device.changes(chat)
                #expect(changes.directory == "\(directory)/\(name)")
                #expect(changes.files.elements.map(\.summary) == ["added b +1 -0 untracked"])
                let place = try await place(device, chat)
                #expect(place.directory == directory)
                #expect(place.unsaved == Worktree.Unsaved(files: 2, commits: 0), "all of it would be lost")
                #expect(try await remove(device, chat).code == .sessionUnsaved)
                try await device.ask("cd ..; rm -r \"$OLDPWD\"", chat)
                let gone = "The session's working tree no longer has \(directory)/\(name)"
                #expect(try await device.ask("echo c >c", chat) == .failed(TurnFailure(gone)))
                #expect(try await remove(device, chat, force: true).status == 200)
                #expect(!FileManager.default.fileExists(atPath: directory))
            }
        }
    }

    @Test("A project whose folder is in no commit gets none, and the agent does not work in the project instead")
    func uncommittedFolder() async throws {
        try await TestRepository.with("echo one >a; git add a; git commit -qm one; mkdir -p apps/new") { repository in
            let project = repository.root + "/apps/new"
            try await withGitHost(repository, worktrees: true, project: project) {
                (_: TestHost, device: TestDevice) async throws in
                let (_, reply) = try await begin(device, "echo b >b; pwd")
                let text =
                    "The session's working tree could not be made: the commit that is checked out does not have the "
                    + "project's folder apps/new. Commit it first"
                #expect(reply.answer.isEmpty && reply.frames.last == .failed(TurnFailure(text)), "\(reply.body)")
                #expect(!FileManager.default.fileExists(atPath: project + "/b"))
                #expect(!FileManager.default.fileExists(atPath: repository.root + "-worktrees"))
            }
        }
    }

    @Test("Where git cannot make it, the agent does not work in the project instead")
    func broken() async throws {
        try await TestRepository.with { repository in
            try await withGitHost(repository, worktrees: true) { (_: TestHost, device: TestDevice) async throws in
                try await repository.shell("mv .git/HEAD .git/HEAD-away")
                let (chat, reply) = try await begin(device, "echo b >b; pwd")
                #expect(reply.answer.isEmpty && reply.body.contains("working tree could not be made"), "\(reply.body)")
                #expect(!FileManager.default.fileExists(atPath: repository.root + "/b"))
                try await repository.shell("mv .git/HEAD-away .git/HEAD")
                #expect(try await device.ask("echo b >b", chat) == .done(files: 1))
                #expect(try await place(device, chat).isWorktree)
                #expect(!FileManager.default.fileExists(atPath: repository.root + "/b"))
            }
        }
    }

    @Test("One that cannot be filled is removed again")
    func unfinished() async throws {
        try await TestRepository.with { repository in
            try await withGitHost(repository, worktrees: true) { (_: TestHost, device: TestDevice) async throws in
                try await repository.shell("o=$(git rev-parse HEAD:a); rm -f \".git/objects/${o%${o#??}}/${o#??}\"")
                let (_, reply) = try await begin(device, "pwd")
                #expect(reply.answer.isEmpty && reply.body.contains("working tree could not be made"), "\(reply.body)")
                let left = try await repository.shell("git branch --list 'pairtool/*'; git worktree list")
                #expect(left.split(separator: "\n").count == 1, "\(left)")
            }
        }
    }

    @Test("A removed one takes the agent's session with it, and the agent's process stays at work")
    func agentSession() async throws {
        try await TestRepository.with { repository in
            let directory = repository.root.cut(atLast: "/").map { String($0.before) } ?? "/"
            let command = try FakeACPAgent.command(in: directory)
            let agent = HostAgentKind.acp(ACPLaunch(id: "fake", name: "Fake", command: command))
            try await withGitHost(repository, worktrees: true, agent: agent) {
                (_: TestHost, device: TestDevice) async throws in
                func ask(_ prompt: String, _ chat: String) async throws -> String {
                    let sent = try await device.execute(
                        .chatSend(chatID: chat, prompt: prompt, model: "fake", allowedTools: nil)
                    )
                    return try await device.events(chat: chat, turn: sent.result["turnId"]?.string ?? "").answer
                }
                let (chat, turn) = try await device.startTurn("say one", model: "fake")
                #expect(try await device.events(chat: chat, turn: turn).answer == "one")
                #expect(try await ask("recall", chat) == "say one")
                let before = try await place(device, chat).directory
                #expect(try await remove(device, chat).status == 200)
                #expect(try await ask("recall", chat) == "")
                #expect(try await place(device, chat).directory == before)
                #expect(try await ask("where", chat) == before)
                #expect(try await ask("cwd", chat) == repository.root)
            }
        }
    }

    @Test("The owner sees and removes one whose project is not listed any more; devices do not see it")
    func unlisted() async throws {
        try await TestRepository.with { repository in
            let chat = try await withGitHost(repository, worktrees: true) {
                (_: TestHost, device: TestDevice) async throws in
                try await begin(device, "true").chat
            }
            let other = repository.root + "-other"
            try FileManager.default.createDirectory(atPath: other, withIntermediateDirectories: true)
            try await withHostAndDevice(in: repository.root.cut(atLast: "/").map { String($0.before) }) {
                $0.agent = .command(["sh"])
                $0.projects = [other]
            } _: { (host: TestHost, device: inout TestDevice) async throws in
                try await device.pair()
                let listed = try await device.get("/companion/sessions").decoded(WorktreesResponse.self)
                #expect(listed.sessions.elements.isEmpty)
                #expect(try await remove(device, chat).status == 404)
                let administration = host.server.administration
                let place = await administration.answer(AdminRequest(.sessions)).sessions?.first
                #expect(place?.id == chat)
                var request = AdminRequest(.removeSession)
                request.chat = chat
                #expect(await administration.answer(request).sessions?.map(\.id) == [chat])
                #expect(place.map { FileManager.default.fileExists(atPath: $0.directory) } == false)
            }
        }
    }

    @Test("A place that is taken is left alone, a link is not followed, and one that is gone is made again")
    func taken() async throws {
        try await TestRepository.with { repository in
            try await withGitHost(repository, worktrees: true) { (_: TestHost, device: TestDevice) async throws in
                let chat =
                    try await device.execute(
                        .chatCreate(projectID: try await device.firstProject(), title: nil)
                    ).result["id"]?.string ?? ""
                let directory = "\(repository.root)-worktrees/\(chat.prefix(8))"
                try write("mine", to: directory + "/file")
                try await device.ask("true", chat)
                #expect(try await place(device, chat).directory == directory + "-2")
                try await repository.shell("rm -rf '\(directory)-2'")
                try await device.ask("echo b >b", chat)
                #expect(try await place(device, chat).unsaved?.files == 1)
                // Nothing is left of what was kept of the working tree that is gone.
                try await repository.shell("rm -rf '\(directory)-2'")
                #expect(try await remove(device, chat, force: true).status == 200)
                let kept = try FileManager.default.contentsOfDirectory(atPath: repository.state)
                #expect(kept.filter { $0 != "tmp" } == [])
                let parent = repository.root + "-worktrees"
                try await repository.shell("mv '\(parent)' x; ln -s \"$PWD/x\" '\(parent)'")
                let (_, reply) = try await begin(device, "pwd")
                #expect(reply.answer.isEmpty && reply.body.contains("is not a directory of the host's user"))
            }
        }
    }

    @Test(
        "A branch whose name the host's would need as a directory, or that is in its way, stops no session",
        arguments: [("pairtool", "pairtool-"), ("pairtool/*/x", "pairtool/")]
    )
    func occupiedBranch(name: String, start: String) async throws {
        try await TestRepository.with { repository in
            try await withGitHost(repository, worktrees: true) { (_: TestHost, device: TestDevice) async throws in
                let project = try await device.firstProject()
                let created = try await device.execute(.chatCreate(projectID: project, title: nil))
                let chat = created.result["id"]?.string ?? ""
                let short = String(chat.prefix(8))
                try await repository.shell("git branch '\(name.replacing("*", with: short))'")
                try await device.ask("true", chat)
                let number = name.contains("*") ? "-2" : ""
                #expect(try await place(device, chat).branch == start + short + number)
                #expect(try await remove(device, chat).status == 200)
                #expect(try await repository.shell("git branch").split(separator: "\n").count == 2)
            }
        }
    }

    @Test("No filter and no hook of the repository runs when it is made or removed")
    func hostile() async throws {
        try await TestRepository.with("echo one >a; echo '* filter=x' >.gitattributes; git add -A; git commit -qm one")
        {
            repository in
            let mark = repository.root + "-ran"
            try await repository.shell(
                """
                for key in filter.x.clean filter.x.smudge filter.x.process core.fsmonitor core.pager core.editor; do
                    git config "$key" 'touch \(mark)'; done
                git config filter.x.required true
                for hook in post-checkout post-index-change pre-commit reference-transaction; do
                    printf '#!/bin/sh\\ntouch \(mark)\\n' >.git/hooks/$hook; chmod +x .git/hooks/$hook; done
                """
            )
            try await withGitHost(repository, worktrees: true) { (_: TestHost, device: TestDevice) async throws in
                let (chat, reply) = try await begin(device, "cat a; echo b >b")
                #expect(reply.answer == "one\n")
                #expect(try await place(device, chat).unsaved == Worktree.Unsaved(files: 1, commits: 0))
                #expect(try await remove(device, chat).status == 409)
                #expect(try await remove(device, chat, force: true).status == 200)
                #expect(!FileManager.default.fileExists(atPath: mark))
                // They would run: git's own checkout does it.
                _ = try? await repository.shell("git worktree add -q ../checked-out HEAD")
                #expect(FileManager.default.fileExists(atPath: mark))
            }
        }
    }
}
