import CompanionTestSupport
import CompanionWire
import FoundationEssentials
import Glibc
import LocalState
import Testing

@testable import CompanionHost

/// What keeps a working tree from being removed, and what does not. The agent runs its prompts as shell scripts.
@Suite("Removal of working trees", .timeLimit(.minutes(15)))
struct WorktreeRemovalTests {
    /// A session, and what is on the disk for it.
    private struct Session {
        var sessions: GitSessions
        var device: TestDevice
        var repository: TestRepository
        var chat: String
        var directory: String
        var entry: String

        /// Runs a script in the working tree. `$g` is its git directory, `$b` its branch, `$w` a new commit that nothing leads to.
        func shell(_ script: String) async throws {
            let start = """
                cd '\(directory)'; g=$(git rev-parse --absolute-git-dir); b=$(git branch --show-current)
                w=$(git commit-tree -m own -p HEAD 'HEAD^{tree}')

                """
            try await repository.shell(start + script)
        }

        func remove(isForced: Bool) async throws -> Reply {
            try await device.command(.sessionRemove(chatID: chat, isForced: isForced))
        }

        func place() async throws -> Worktree {
            let reply = try await device.get("/companion/sessions/\(chat)")
            guard reply.status == 200 else { throw TestFailure("\(reply.status): \(reply.body)") }
            return try reply.decoded(WorktreeResponse.self).session
        }
    }

    /// A repository with two commits, of which the second one is checked out.
    private static let commits = "echo one >a; git add a; git commit -qm one; echo two >a; git commit -qam two"

    /// Runs a body with a session that has a worktree of its own.
    ///
    /// - Parameter limits: For a removal by force. Default: enough for a busy machine.
    private func withSession<R: Sendable>(
        _ limits: RemovalLimits = .patient,
        _ body: (Session) async throws -> R
    ) async throws -> R {
        try await RemovalLimits.$forced.withValue(limits) { try await withSessionAndLimits(body) }
    }

    private func withSessionAndLimits<R: Sendable>(_ body: (Session) async throws -> R) async throws -> R {
        try await TestRepository.with(Self.commits) { repository in
            try await withGitHost(repository, worktrees: true) { (host: TestHost, device: TestDevice) async throws in
                let (chat, turn) = try await device.startTurn("true")
                _ = try await device.events(chat: chat, turn: turn)
                let name = String(chat.prefix(8))
                return try await body(
                    Session(
                        sessions: host.server.administration.services.worktrees.sessions,
                        device: device,
                        repository: repository,
                        chat: chat,
                        directory: "\(repository.root)-worktrees/\(name)",
                        entry: "\(repository.root)/.git/worktrees/\(name)"
                    )
                )
            }
        }
    }

    @Test(
        "Work that only the worktree's git directory holds is unsaved",
        arguments: [
            ("echo x >>a; git rebase -q --autostash --exec false HEAD~1 || true", 2, "rebase-merge"),
            ("echo x >>a; git stash create >$g/MERGE_AUTOSTASH; git checkout -q a", 2, "MERGE_AUTOSTASH"),
            ("git update-ref refs/worktree/w $w", 1, nil),
            ("git update-ref refs/rewritten/w $w", 1, nil),
            ("git update-ref refs/bisect/w $w", 1, nil),
            ("git commit -q --allow-empty -m w; git reset -q --hard HEAD~1", 1, nil),
            ("git update-ref --create-reflog refs/worktree/w $w; git update-ref refs/worktree/w HEAD", 1, nil),
            ("git checkout -q --detach; git update-ref refs/heads/$b $w; git update-ref refs/heads/$b HEAD", 1, nil),
            ("git symbolic-ref refs/heads/topic refs/heads/$b; git commit -q --allow-empty -m w", 1, nil),
            (
                "git symbolic-ref refs/heads/t refs/heads/$b; git symbolic-ref HEAD refs/heads/t; "
                    + "git commit -q --allow-empty -m w", 1, nil
            ),
            ("git symbolic-ref refs/heads/t refs/worktree/w; git update-ref refs/worktree/w $w", 1, nil),
            ("echo $w >$g/CHERRY_PICK_HEAD", 1, "CHERRY_PICK_HEAD"),
            ("git format-patch -1 --stdout HEAD >../p; git am -q ../p || true", 0, "rebase-apply"),
            ("mkdir $g/sequencer; echo pick $w own >$g/sequencer/todo", 1, "sequencer"),
            ("git bisect start HEAD HEAD~1 || true; git checkout -q $b", 0, "BISECT_LOG"),
            ("git init -q --bare $g/modules/lib", 0, "modules"),
        ] as [(String, Int, String?)]
    )
    func unsaved(script: String, commits: Int, name: String?) async throws {
        try await withSession { session in
            #expect(try await session.place().unsaved == Worktree.Unsaved(files: 0, commits: 0))
            try await session.shell(script)
            let unsaved = try #require(try await session.place().unsaved)
            #expect(unsaved.files == 0 && unsaved.commits == commits, "\(unsaved)")
            #expect(name.map { unsaved.unfinished?.contains($0) == true } ?? (unsaved.unfinished == nil), "\(unsaved)")
            let refused = try await session.remove(isForced: false)
            #expect(refused.status == 409 && refused.code == .sessionUnsaved, "\(refused.body)")
            #expect(FileManager.default.fileExists(atPath: session.directory))
            #expect(try await session.remove(isForced: true).status == 200)
            #expect(!FileManager.default.fileExists(atPath: session.directory))
            #expect(!FileManager.default.fileExists(atPath: session.entry))
        }
    }

    @Test(
        "What stays without the worktree is no loss",
        arguments: [
            "echo x >>a; git stash -q", "git commit -q --allow-empty -m w; git branch kept; git rebase -q HEAD~1",
            "git commit -q --allow-empty -m w; git update-ref refs/notes/w HEAD; git reset -q --hard HEAD~1",
            "git fetch -q . $w || git fetch -q . main", "git checkout -q HEAD~1",
            "git symbolic-ref HEAD refs/heads/main", "git symbolic-ref refs/heads/topic refs/heads/main",
            "touch $g/index.lock",
        ]
    )
    func saved(script: String) async throws {
        try await withSession { session in
            try await session.shell(script)
            #expect(try await session.place().unsaved == Worktree.Unsaved(files: 0, commits: 0))
            #expect(try await session.remove(isForced: false).status == 200)
            #expect(!FileManager.default.fileExists(atPath: session.directory))
        }
    }

    @Test(
        "A directory that git cannot open may have work in it, also one that git ignores since the session began",
        arguments: [
            "", "echo d/ >>.gitignore; git add .gitignore; git commit -qm list; git branch kept",
            "echo d/ >>\"$(git rev-parse --git-path info/exclude)\"",
        ]
    )
    func unopened(script: String) async throws {
        try await withSession { session in
            // Its path is too long: nothing else stops git as root.
            try await session.shell(
                """
                n=$(printf 'n%.0s' $(seq 250)); p=d/$n/$n/$n/$n/$n/$n/$n/$n/$n; mkdir -p $p e/$p
                echo work >e/$p/work; mv e $p
                \(script)
                """
            )
            let place = try await session.place()
            #expect(place.unsaved == nil && place.problem?.contains("cannot list all files") == true, "\(place)")
            #expect(try await session.remove(isForced: false).code == .changesUnavailable)
            #expect(FileManager.default.fileExists(atPath: session.directory))
            #expect(try await session.remove(isForced: true).status == 200)
            #expect(FileStatus.isNothing(session.directory))
        }
    }

    @Test("A locked one stays unless it is removed by force")
    func locked() async throws {
        try await withSession { session in
            try await session.shell("git worktree lock .")
            let refused = try await session.remove(isForced: false)
            #expect(refused.code == .changesUnavailable && refused.error?.contains("is locked") == true)
            #expect(try await session.remove(isForced: true).status == 200)
            #expect(!FileManager.default.fileExists(atPath: session.directory))
            #expect(!FileManager.default.fileExists(atPath: session.entry))
        }
    }

    @Test(
        "By force it is removed whatever was done to it, and nothing else",
        arguments: [
            "rm .git; mkfifo .git", "rm .git", "rm .git; mkdir .git", "echo gitdir: /nowhere >.git",
            "git init -q ../other; echo \"gitdir: $PWD/../other/.git\" >.git", "rm $g/HEAD; mkfifo $g/HEAD",
            "rm $g/index; mkfifo $g/index", "rm $g/gitdir; mkfifo $g/gitdir", "rm $g/commondir", "rm -r $g",
            "mkfifo .gitignore d", "mkdir -p d/e; touch d/e/f; chmod 0 d/e d", "touch \"$(printf '\\377 \\n')\"",
            "i=0; while [ $i -lt 200 ]; do i=$((i + 1)); mkdir d; cd d; touch f; done; chmod 0 .", "ln -s ../kept d",
            "mkdir -p $g/refs; ln -s \"$PWD/../kept\" $g/refs/d", "cd ..; rm -r \"$OLDPWD\"; ln -s kept \"$OLDPWD\"",
            "cd ..; rm -r \"$OLDPWD\"; touch \"$OLDPWD\"", "rm -r $g; ln -s \"$PWD/../kept\" $g", "chmod 500 ..",
        ]
    )
    func forced(script: String) async throws {
        try await withSession { session in
            let kept = session.repository.root + "-worktrees/kept"
            try write("mine", to: kept + "/file")
            try await session.shell(script)
            let removed = try await session.remove(isForced: true)
            #expect(removed.status == 200, "\(removed.body)")
            #expect(FileStatus.isNothing(session.directory) && FileStatus.isNothing(session.entry))
            #expect(try contents(of: kept + "/file") == "mine")
            #expect(FileManager.default.fileExists(atPath: session.repository.root + "/a"))
            let left = try await session.repository.shell("git branch --list 'pairtool/*'; git worktree list")
            #expect(left.split(separator: "\n").count == 1, "\(left)")
            #expect(try await session.device.get("/companion/sessions/\(session.chat)").status == 404)
        }
    }

    @Test("By force it is removed from a repository that git cannot read, and the branch that stays is named")
    func brokenRepository() async throws {
        // git waits here until it is ended.
        try await withSession(.forced) { session in
            try await session.repository.shell("rm .git/HEAD; mkfifo .git/HEAD")
            let removed = try await session.remove(isForced: true)
            #expect(removed.status == 200, "\(removed.body)")
            #expect(FileStatus.isNothing(session.directory) && FileStatus.isNothing(session.entry))
            #expect(removed.body.contains("The branch pairtool"), "\(removed.body)")
        }
    }

    @Test("Behind a link that has replaced a directory above, nothing is removed")
    func linkAbove() async throws {
        try await withSession { session in
            let parent = session.repository.root + "-worktrees"
            try await session.repository.shell("mv '\(parent)' ../away; mkdir ../victim; ln -s victim '\(parent)'")
            let name = String(session.chat.prefix(8))
            try write("mine", to: parent + "/\(name)/file")
            let removed = try await session.remove(isForced: true)
            #expect(removed.status == 200 && removed.body.contains("is behind a symbolic link"), "\(removed.body)")
            #expect(try contents(of: parent + "/\(name)/file") == "mine")
            #expect(FileStatus.isNothing(session.entry))
            #expect(try await session.device.get("/companion/sessions/\(session.chat)").status == 404)
        }
    }

    @Test("Commits that come to the branch after it was looked at keep it, and so does a working tree that has it")
    func branchInUse() async throws {
        try await withSession { session in
            let record = try #require(try await session.sessions.table.record(ofChat: session.chat))
            let branch = try #require(record.worktreeBranch)
            let root = session.repository.root
            let look = try await session.sessions.unsavedWork.find(in: record)
            let tip = try #require(look.tip)
            #expect(try await session.repository.shell("git rev-parse \(branch)") == tip + "\n")
            #expect(look.unsaved.isEmpty)
            try await session.shell("git commit -q --allow-empty -m late")
            let late = try await session.sessions.removeFromDisk(record, within: .usual, branch: .at(tip))
            #expect(late.isComplete && late.problem == "The branch \(branch) was kept: it has new commits")
            #expect(FileStatus.isNothing(session.directory))
            #expect(try await session.repository.shell("git log -1 --format=%s \(branch)") == "late\n")
            try await session.repository.shell("git symbolic-ref HEAD refs/heads/\(branch)")
            let found = try #require(try await GitBranch.find(branch, in: root, findsUse: true))
            #expect(found.isInUse && found.tip != tip)
            let used = try await session.sessions.removeFromDisk(record, within: .usual, branch: .at(found.tip))
            #expect(used.problem == "The branch \(branch) was kept: another working tree has it checked out")
            try await session.repository.shell("git symbolic-ref HEAD refs/heads/main")
            let own = try await session.sessions.removeFromDisk(record, within: .usual, branch: .withoutOwnCommits)
            #expect(own.problem == "The branch \(branch) was kept: it has commits that are nowhere else")
            let removed = try await session.sessions.removeFromDisk(record, within: .usual, branch: .at(found.tip))
            #expect(removed.isComplete && removed.problem == nil)
            #expect(try await GitBranch.find(branch, in: root) == nil)
        }
    }

    @Test("While a worktree is still being removed, its branch stays, and the answer does not say that it was kept")
    func stillBeingRemoved() async throws {
        try await withSession { session in
            let record = try #require(try await session.sessions.table.record(ofChat: session.chat))
            let branch = try #require(record.worktreeBranch)
            let tip = try #require(try await session.sessions.unsavedWork.find(in: record).tip)
            let limits = RemovalLimits(look: nil, files: .zero, branch: GitRepository.time)
            let begun = try await session.sessions.removeFromDisk(record, within: limits, branch: .at(tip))
            #expect(!begun.isComplete && begun.problem == "\(session.directory) is still being removed")
            #expect(try await GitBranch.find(branch, in: session.repository.root)?.tip == tip)
            let ended = try await session.sessions.removeFromDisk(record, within: .usual, branch: .at(tip))
            #expect(ended.isComplete && ended.problem == nil)
            #expect(try await GitBranch.find(branch, in: session.repository.root) == nil)
        }
    }

    @Test(
        "Where a removal by force goes on later, the branch goes only at the commit that was looked at",
        arguments: [true, false]
    )
    func forcedTip(isKnown: Bool) async throws {
        try await withSession { session in
            let table = session.sessions.table
            let record = try #require(try await table.record(ofChat: session.chat))
            let branch = try #require(record.worktreeBranch)
            var worktree = UnfinishedWorktree(record, isRemoval: true, isForced: true)
            if isKnown { worktree.tip = try await session.sessions.unsavedWork.find(in: record).tip }
            try await table.begin(worktree)
            _ = try await worktree.setAside()
            try await session.repository.shell(
                "git update-ref refs/heads/\(branch) $(git commit-tree -m late -p HEAD 'HEAD^{tree}')"
            )
            await session.sessions.finishInterrupted(within: .seconds(120))
            #expect(FileStatus.isNothing(worktree.aside) && FileStatus.isNothing(session.entry))
            #expect(try await session.repository.shell("git log -1 --format=%s \(branch)") == "late\n")
        }
    }

    @Test("One that was moved with git stays where it is now")
    func moved() async throws {
        try await withSession { session in
            try await session.shell(#"git worktree move "$PWD" ../moved"#)
            #expect(try await session.remove(isForced: true).status == 200)
            #expect(FileManager.default.fileExists(atPath: session.repository.root + "-worktrees/moved/a"))
            let left = try await session.repository.shell("git worktree list")
            #expect(left.split(separator: "\n").count == 2, "\(left)")
        }
    }

    @Test("A turn does not begin another worktree while files of the first one are there without their `.git`")
    func withoutGit() async throws {
        try await withSession { session in
            try await session.shell("rm .git")
            guard case .failed(let failure) = try await session.device.ask("true", session.chat) else {
                throw TestFailure("the turn did not fail")
            }
            #expect(failure.text.contains("has no .git any more"), "\(failure.text)")
            #expect(try await session.place().problem != nil)
            #expect(try await session.remove(isForced: true).status == 200)
            #expect(try await session.device.ask("true", session.chat) == .done(files: nil))
        }
    }

    @Test(
        "What was cut off while it was made or removed is not ended where somebody has worked since",
        arguments: [
            true, false,
        ]
    )
    func workedOn(isRemoval: Bool) async throws {
        try await withSession { session in
            let table = session.sessions.table
            let record = try #require(try await table.record(ofChat: session.chat))
            try write("mine", to: session.directory + "/new")
            try await table.begin(UnfinishedWorktree(record, isRemoval: isRemoval))
            await session.sessions.finishInterrupted(within: .seconds(120))
            #expect(FileManager.default.fileExists(atPath: session.directory + "/new"))
            #expect(try await session.place().unsaved?.files == 1)
            try FileManager.default.removeItem(atPath: session.directory + "/new")
            try await table.begin(UnfinishedWorktree(record, isRemoval: true))
            await session.sessions.finishInterrupted(within: .seconds(120))
            #expect(FileStatus.isNothing(session.directory))
            #expect(try await table.unfinished().isEmpty)
            #expect(try await table.record(ofChat: session.chat) == nil)
        }
    }

    /// The ways in which a removal goes on once the worktree was moved aside.
    enum Continuation: Sendable, CaseIterable { case sameHost, nextHost }

    @Test(
        "A file that was saved just before a worktree was moved aside brings it back",
        arguments: Continuation.allCases
    )
    func savedLate(continuation: Continuation) async throws {
        try await withSession { session in
            let table = session.sessions.table
            let record = try #require(try await table.record(ofChat: session.chat))
            let worktree = UnfinishedWorktree(record, isRemoval: true)
            try await table.begin(worktree)
            #expect(try await worktree.setAside() == worktree.aside)
            #expect(try await session.sessions.unsavedWork.find(in: record, movedTo: worktree.aside).unsaved.isEmpty)
            try write("mine", to: worktree.aside + "/new")
            #expect(try await session.sessions.unsavedWork.find(in: record, movedTo: worktree.aside).unsaved.files == 1)
            switch continuation {
            case .sameHost: #expect(try await session.remove(isForced: false).code == .sessionUnsaved)
            case .nextHost: await session.sessions.finishInterrupted(within: .seconds(120))
            }
            #expect(try contents(of: session.directory + "/new") == "mine")
            #expect(FileStatus.isNothing(worktree.aside))
            #expect(try await table.unfinished().isEmpty)
            #expect(try await session.place().unsaved?.files == 1)
            try FileManager.default.removeItem(atPath: session.directory + "/new")
            #expect(try await session.remove(isForced: false).status == 200)
            #expect(FileStatus.isNothing(session.directory) && FileStatus.isNothing(session.entry))
        }
    }

    @Test("Work in a worktree whose place was taken stays where it was moved to, and is not removed later")
    func savedLateElsewhere() async throws {
        try await withSession { session in
            let table = session.sessions.table
            let record = try #require(try await table.record(ofChat: session.chat))
            let worktree = UnfinishedWorktree(record, isRemoval: true)
            try await table.begin(worktree)
            _ = try await worktree.setAside()
            try write("mine", to: worktree.aside + "/new")
            try FileManager.default.createDirectory(atPath: session.directory, withIntermediateDirectories: false)
            await session.sessions.finishInterrupted(within: .seconds(120))
            #expect(try contents(of: worktree.aside + "/new") == "mine")
            #expect(try await table.unfinished().map(\.aside) == [worktree.aside])
            try FileManager.default.removeItem(atPath: session.directory)
            await session.sessions.finishInterrupted(within: .seconds(120))
            #expect(try contents(of: session.directory + "/new") == "mine")
            #expect(try await table.unfinished().isEmpty)
        }
    }

    @Test(
        "A removal that was cut off does not end where somebody has locked the worktree since",
        arguments: [true, false]
    )
    func lockedLate(hasBegun: Bool) async throws {
        try await withSession { session in
            let table = session.sessions.table
            let record = try #require(try await table.record(ofChat: session.chat))
            let worktree = UnfinishedWorktree(record, isRemoval: true)
            try await table.begin(worktree)
            try await session.shell("git worktree lock .")
            if hasBegun { _ = try await worktree.setAside() }
            await session.sessions.finishInterrupted(within: .seconds(120))
            #expect(FileManager.default.fileExists(atPath: session.directory + "/a"))
            #expect(try await table.unfinished().isEmpty)
            #expect(try await table.record(ofChat: session.chat) != nil)
        }
    }

    @Test("What a host has begun before goes on beside the first turns, and looks at what they have made")
    func besideTurns() async throws {
        try await withSession { session in
            let (sessions, chat) = (session.sessions, session.chat)
            let record = try #require(try await sessions.table.record(ofChat: chat))
            try await sessions.table.begin(UnfinishedWorktree(record, isRemoval: true))
            let late = try await sessions.lock.run(chat) {
                // The time is over before the chat is free. Then the first turn writes a file.
                let late = await sessions.finishInterrupted(within: .milliseconds(1))
                try write("mine", to: session.directory + "/new")
                return late
            }
            await late?.value
            #expect(FileManager.default.fileExists(atPath: session.directory + "/new"))
            try await sessions.table.begin(UnfinishedWorktree(record, isRemoval: true))
            await sessions.finishInterrupted(within: .seconds(120))
            #expect(FileManager.default.fileExists(atPath: session.directory + "/new"))
            #expect(try await sessions.table.unfinished().isEmpty)
        }
    }

    @Test("A worktree that git cannot read, or that an agent works in, is not ended as one that was being removed")
    func unreadable() async throws {
        try await withSession { session in
            let table = session.sessions.table
            let record = try #require(try await table.record(ofChat: session.chat))
            try await table.begin(UnfinishedWorktree(record, isRemoval: true))
            await session.sessions.finishInterrupted(within: .seconds(120), isBusy: { _ in true })
            #expect(FileManager.default.fileExists(atPath: session.directory + "/a"))
            #expect(try await table.unfinished().count == 1)
            try await session.shell("mv $g/HEAD $g/away; mkfifo $g/HEAD")
            await session.sessions.finishInterrupted(within: .seconds(120))
            #expect(FileManager.default.fileExists(atPath: session.directory + "/a"))
            #expect(try await table.record(ofChat: session.chat) != nil)
        }
    }

    @Test(
        "A removal that was cut off when some files were gone is ended by the next host, also of a new worktree",
        arguments: [true, false],
        [true, false]
    )
    func cutOff(isRemoval: Bool, isForced: Bool) async throws {
        try await withSession { session in
            let table = session.sessions.table
            let record = try #require(try await table.record(ofChat: session.chat))
            var worktree = UnfinishedWorktree(record, isRemoval: isRemoval, isForced: isForced)
            worktree.isSeen = isRemoval && !isForced
            try await table.begin(worktree)
            if !isRemoval { try await table.forget(chat: session.chat) }
            #expect(try await worktree.setAside() == worktree.aside)
            #expect(FileStatus.isNothing(session.directory))
            try FileManager.default.removeItem(atPath: worktree.aside + "/a")
            // Somebody may have made a directory of that name since.
            try write("mine", to: session.directory + "/file")
            await session.sessions.finishInterrupted(within: .seconds(120))
            #expect(FileStatus.isNothing(worktree.aside) && FileStatus.isNothing(session.entry))
            #expect(try contents(of: session.directory + "/file") == "mine")
            #expect(try await table.unfinished().isEmpty)
            #expect(try await table.record(ofChat: session.chat) == nil)
            #expect(try await session.repository.shell("git branch --list 'pairtool/*'") == "")
        }
    }

    @Test("While the disk of a repository is not mounted, no removal ends", arguments: [true, false], [true, false])
    func notMounted(isRemoval: Bool, hasBegun: Bool) async throws {
        try await withSession { session in
            let table = session.sessions.table
            let record = try #require(try await table.record(ofChat: session.chat))
            let worktree = UnfinishedWorktree(record, isRemoval: isRemoval, isForced: true)
            try await table.begin(worktree)
            if hasBegun { _ = try await worktree.setAside() }
            if !isRemoval { try await table.forget(chat: session.chat) }
            let (root, away) = (session.repository.root, session.repository.root + "-away")
            // As without the mount: the directories above are there, with nothing in them.
            for name in ["", "-worktrees"] {
                try FileManager.default.moveItem(atPath: root + name, toPath: away + name)
                try FileManager.default.createDirectory(atPath: root + name, withIntermediateDirectories: false)
            }
            await session.sessions.finishInterrupted(within: .seconds(120))
            #expect(try await table.unfinished().map(\.aside) == [worktree.aside])
            #expect(try await (table.record(ofChat: session.chat) != nil) == isRemoval)
            for name in ["", "-worktrees"] {
                try FileManager.default.removeItem(atPath: root + name)
                try FileManager.default.moveItem(atPath: away + name, toPath: root + name)
            }
            await session.sessions.finishInterrupted(within: .seconds(120))
            #expect(try await table.unfinished().isEmpty)
            #expect(FileStatus.isNothing(session.directory) && FileStatus.isNothing(worktree.aside))
            #expect(FileStatus.isNothing(session.entry))
        }
    }

    @Test("A directory that the system cannot look at does not count as gone")
    func beginUnknown() async throws {
        try await withSession { session in
            let record = try #require(try await session.sessions.table.record(ofChat: session.chat))
            var worktree = UnfinishedWorktree(record, isRemoval: true)
            #expect(try !worktree.hasBegun)
            // A loop of links stands for a disk with errors.
            let parent = session.repository.root + "-worktrees"
            try await session.repository.shell("ln -s loop '\(parent)/loop'")
            worktree.aside = parent + "/loop/aside"
            #expect(throws: GitError.self) { try worktree.hasBegun }
        }
    }

    @Test(
        "By force, what cannot be removed keeps neither the rest, nor the branch and the session, and is named",
        .enabled(if: SmallDisk.isPossible, "needs root, to mount a disk")
    )
    func mounted() async throws {
        try await withSession { session in
            try await session.shell("mkdir -p d/disk; echo 1 >d/x; mount -t tmpfs none d/disk; touch d/disk/f")
            let parent = session.repository.root + "-worktrees"
            do {
                let refused = try await session.remove(isForced: false)
                #expect(refused.code == .sessionUnsaved)
                let removed = try await session.remove(isForced: true)
                #expect(
                    removed.status == 200 && removed.body.contains("another file system is mounted"),
                    "\(removed.body)"
                )
                #expect(FileStatus.isNothing(session.directory) && FileStatus.isNothing(session.entry))
                let left = try await session.repository.shell("cd '\(parent)'; find . -type f")
                #expect(left.hasSuffix("/d/disk/f\n") && left.split(separator: "\n").count == 1, "\(left)")
                #expect(try await session.repository.shell("git branch --list 'pairtool/*'") == "")
                #expect(try await session.device.get("/companion/sessions/\(session.chat)").status == 404)
            } catch {
                _ = try? await session.repository.shell("umount '\(parent)'/*/d/disk '\(parent)'/.pair*/d/disk")
                throw error
            }
            try await session.repository.shell("umount '\(parent)'/.pair*/d/disk")
        }
    }

    @Test(
        "A removal that has begun ends although something of it cannot be removed",
        .enabled(if: SmallDisk.isPossible, "needs root, to mount a disk")
    )
    func mountedAside() async throws {
        try await withSession { session in
            let table = session.sessions.table
            let record = try #require(try await table.record(ofChat: session.chat))
            var worktree = UnfinishedWorktree(record, isRemoval: true)
            worktree.isSeen = true
            try await table.begin(worktree)
            _ = try await worktree.setAside()
            let disk = worktree.aside + "/disk"
            try await session.repository.shell("mkdir '\(disk)'; mount -t tmpfs none '\(disk)'; touch '\(disk)/f'")
            defer { umount2(disk, Int32(MNT_DETACH)) }
            await session.sessions.finishInterrupted(within: .seconds(120))
            #expect(try await table.unfinished().isEmpty)
            #expect(try await table.record(ofChat: session.chat) == nil)
            #expect(FileStatus.isNothing(worktree.aside + "/a") && FileStatus.isNothing(session.entry))
            #expect(!FileStatus.isNothing(disk + "/f"))
        }
    }

    @Test("By force, a removal goes on behind what stays", .enabled(if: SmallDisk.isPossible, "needs root"))
    func keptOne() async throws {
        try await SmallDisk.with { disk in
            let top = disk.directory.cut(atLast: "/").map { String($0.before) + "/top" } ?? ""
            try write("1", to: top + "/a")
            try write("1", to: top + "/d/disk/b")
            try write("1", to: top + "/d/c")
            let isMounted = mount("tmpfs", top + "/d/disk", "tmpfs", 0, "size=65536") == 0
            #expect(isMounted)
            defer { umount2(top + "/d/disk", Int32(MNT_DETACH)) }
            #expect(throws: TreeRemoval.Failure.self) {
                _ = try TreeRemoval.remove(top, until: .now + .seconds(600))
            }
            let outcome = try TreeRemoval.remove(top, until: .now + .seconds(600), isForced: true)
            let reason = "\(top)/d/disk could not be removed: another file system is mounted there"
            #expect(outcome == .kept(reason))
            #expect(FileStatus.isNothing(top + "/a") && FileStatus.isNothing(top + "/d/c"))
        }
    }

    @Test("A removal whose time is over can be taken up again")
    func unfinished() async throws {
        try await withSession { session in
            try write("mine", to: session.directory + "/d/file")
            let past = ContinuousClock.now - .seconds(1)
            #expect(try TreeRemoval.remove(session.directory, until: past) == .unfinished)
            #expect(FileManager.default.fileExists(atPath: session.directory + "/d/file"))
            #expect(try TreeRemoval.remove(session.directory, until: .now + .seconds(600)) == .removed)
            #expect(try TreeRemoval.remove(session.directory, until: past) == .removed)
        }
    }
}

extension FileStatus {
    /// Whether nothing has a path, not even a link that leads nowhere.
    fileprivate static func isNothing(_ path: String) -> Bool { FileStatus(path, followingLinks: false) == nil }
}

extension RemovalLimits {
    /// By force, where a test asks what is removed and not how fast.
    static let patient = RemovalLimits(look: gitTime, files: gitTime, branch: gitTime, isForced: true)
}
