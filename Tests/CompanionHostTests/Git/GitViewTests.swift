import CompanionTestSupport
import CompanionWire
import FoundationEssentials
import Glibc
import LocalState
import Subprocess
import Testing

@testable import CompanionHost

/// What git is shown of a repository that somebody else writes to.
@Suite("Git with a configuration of the host's own", .timeLimit(.minutes(15)))
struct GitViewTests {
    /// Since 2.54, git runs hooks that are in its configuration, whatever `core.hooksPath` says.
    private static let runsConfiguredHooks: Bool = {
        let pipe = popen("git version", "r")
        defer { pclose(pipe) }
        var line = [CChar](repeating: 0, count: 256)
        guard let pipe, fgets(&line, 256, pipe) != nil else { return false }
        let text = String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        let version = text.parts(" ").last?.parts(".").prefix(2).compactMap { Int($0) } ?? []
        return version.count == 2 && (version[0], version[1]) >= (2, 54)
    }()

    /// Commands that the host runs in repositories of others.
    private static let commands = [
        ["rev-parse", "HEAD"], ["symbolic-ref", "-q", "HEAD"], ["log", "-1"], ["show-ref"], ["for-each-ref"],
        ["ls-files", "-s"], ["ls-files", "-t", "-m", "-o", "--exclude-standard"], ["check-ignore", "-q", "--", "./a"],
        ["cat-file", "-t", "HEAD"], ["diff-index", "--cached", "HEAD"], ["diff-index", "-p", "HEAD"], ["status"],
        ["rev-list", "--count", "HEAD", "--not", "--remotes"], ["rev-list", "--reflog", "-1"],
        ["update-index", "-q", "--refresh"], ["read-tree", "HEAD"], ["branch", "new", "HEAD"],
        ["branch", "-D", "other"], ["update-ref", "-d", "refs/heads/third"], ["worktree", "list"],
        ["worktree", "prune"], ["worktree", "remove", "--force", "../tree"], ["fetch"],
    ]

    /// Names programs in each file that git reads settings from.
    private static func hostile(_ program: String) -> String {
        """
        git branch other; git branch third; git worktree add -q ../tree 2>/dev/null
        git config extensions.worktreeConfig true; git config include.path more
        for file in config more config.worktree worktrees/tree/config.worktree; do
            for event in reference-transaction post-checkout post-index-change pre-auto-gc post-merge; do
                git config -f .git/$file --add hook.x.event $event; done
            for key in hook.x.command filter.x.clean filter.x.smudge filter.x.process diff.x.command diff.x.textconv \
                core.fsmonitor core.pager core.editor core.sshCommand core.gitProxy core.askPass gpg.program \
                gpg.ssh.program diff.external merge.x.driver credential.helper core.alternateRefsCommand \
                uploadpack.packObjectsHook pager.log remote.origin.uploadpack trailer.x.command; do
                git config -f .git/$file "$key" '\(program)'; done
            git config -f .git/$file core.hooksPath '\(program)-hooks'
            git config -f .git/$file remote.origin.url 'ext::\(program)'
            git config -f .git/$file protocol.allow always
            git config -f .git/$file remote.origin.promisor true
        done
        mkdir '\(program)-hooks'
        for hook in reference-transaction post-checkout post-index-change; do
            cp '\(program)' '\(program)-hooks'/$hook; cp '\(program)' .git/hooks/$hook; done
        echo '* filter=x diff=x merge=x' >.gitattributes; echo '* filter=x diff=x' >.git/info/attributes; echo two >>a
        """
    }

    private func withHostileRepository(_ body: (TestRepository, _ mark: String) async throws -> Void) async throws {
        try await TestRepository.with { repository in
            let (mark, program) = (repository.root + "-ran", repository.root + "-program")
            try write("#!/bin/sh\necho \"$0 $@\" >>'\(mark)'\ncat\n", to: program)
            try makeExecutable(program)
            try await repository.shell(Self.hostile(program))
            // Making it has run them already.
            unlink(mark)
            try await body(repository, mark)
        }
    }

    @Test("No command of the host's runs what a repository names, in whatever file and with whatever key")
    func nothingRuns() async throws {
        try await withHostileRepository { repository, mark in
            for command in Self.commands {
                let result = try await GitProgram.run(command, in: repository.root, within: .seconds(30))
                let ran = (try? contents(of: mark)) ?? ""
                #expect(ran.isEmpty, "git \(command.joined(separator: " ")): \(ran)")
                let mayFail = ["fetch", "check-ignore"].contains(command[0])
                #expect(result.isSuccess || mayFail, "\(command): \(result.error)")
            }
            #expect(try await repository.shell("git for-each-ref --format='%(refname:short)'") == "main\nnew\ntree\n")
            // They would run otherwise.
            try await repository.shell("git status >/dev/null 2>&1 || true")
            #expect(FileManager.default.fileExists(atPath: mark))
        }
    }

    @Test(
        "Hooks in a repository's configuration do not run when a session begins and is removed",
        .enabled(if: runsConfiguredHooks, "needs git 2.54 or newer, which has hooks in its configuration")
    )
    func configuredHooks() async throws {
        try await TestRepository.with { repository in
            let mark = repository.root + "-ran"
            try await repository.shell(
                """
                git config hook.x.command 'touch \(mark); true'
                for event in reference-transaction post-checkout post-index-change; do
                    git config --add hook.x.event $event; done
                """
            )
            try await withGitHost(repository, worktrees: true) { (_: TestHost, device: TestDevice) async throws in
                let (chat, turn) = try await device.startTurn("cat a")
                #expect(try await device.events(chat: chat, turn: turn).answer == "one\n")
                #expect(try await device.command(.sessionRemove(chatID: chat, isForced: false)).status == 200)
            }
            #expect(!FileManager.default.fileExists(atPath: mark))
            try await repository.shell("git branch other")
            #expect(FileManager.default.fileExists(atPath: mark), "git itself runs it")
        }
    }

    @Test("Nothing is left of what git was shown")
    func noTrace() async throws {
        try await TestRepository.with { repository in
            let opened = try await GitRepository.open(repository.root)
            let question = ["rev-parse", "--git-common-dir"]
            let shown = try await GitProgram.run(question, in: repository.root, within: .seconds(30))
            let path = String(shown.lines.first ?? "")
            #expect(path.contains("pairtool-git-") && !FileManager.default.fileExists(atPath: path))
            #expect(opened.common == repository.root + "/.git" && opened.own == opened.common)
        }
    }

    @Test("What git was shown by a host that has been killed is removed, and nothing that may be in use")
    func leftBehind() async throws {
        typealias Maker = GitViewDirectory.Maker
        let own = Maker.own
        #expect(own.process == getpid() && own.startedAt > 0 && own.namespace > 0)
        #expect(Maker(name: own.start + "Ab12Cd") == own)
        // Its number may be another process's by now, which began later.
        let ended = try await Subprocess.run(.name("true"), output: .discarded).processIdentifier.value
        let gone = Maker(process: ended, startedAt: 1, namespace: own.namespace)
        let earlier = Maker(process: own.process, startedAt: own.startedAt - 1, namespace: own.namespace)
        let elsewhere = Maker(process: ended, startedAt: 1, namespace: own.namespace + 1)
        try await withTemporaryDirectory { directory in
            let kept = [own.start + "aaaaaa", elsewhere.start + "aaaaaa", "pairtool-git-aaaaaa", "other"]
            let left = [gone.start + "aaaaaa", gone.start + "bbbbbb", earlier.start + "aaaaaa"]
            for name in kept + left { try write("x\n", to: "\(directory)/\(name)/config") }
            try link("\(directory)/other", at: "\(directory)/\(left[0])/refs")
            // A link and a file of that name are no directories of a host's.
            try link("\(directory)/other", at: "\(directory)/\(gone.start)cccccc")
            try write("x\n", to: "\(directory)/\(gone.start)dddddd")
            // A git that a killed host has started uses the second one, until its input ends.
            let outcome = try await Subprocess.run(
                .name("sh"),
                arguments: ["-c", "echo; read -r line"],
                environment: .inherit.updating(["GIT_COMMON_DIR": "\(directory)/\(left[1])"]),
                input: .inputWriter,
                output: .sequence,
                error: .discarded
            ) { process in
                for try await _ in process.standardOutput.strings() { break }
                await GitViewDirectory.removeLeft(in: directory, within: .seconds(120))
                try await process.standardInputWriter.finish()
            }
            #expect(outcome.terminationStatus == .exited(1), "its input has ended")
            let links = ["cccccc", "dddddd"].map { gone.start + $0 }
            #expect(
                try Set(FileManager.default.contentsOfDirectory(atPath: directory)) == Set(kept + links + [left[1]])
            )
            await GitViewDirectory.removeLeft(in: directory, within: .seconds(120))
            #expect(try Set(FileManager.default.contentsOfDirectory(atPath: directory)) == Set(kept + links))
            #expect(FileManager.default.fileExists(atPath: directory + "/other/config"), "links were not followed")
        }
    }

    @Test("A process whose environment the system does not tell keeps no host from starting")
    func silentProcess() async throws {
        let ended = try await Subprocess.run(.name("true"), output: .discarded).processIdentifier.value
        let gone = GitViewDirectory.Maker(process: ended, startedAt: 1, namespace: GitViewDirectory.Maker.own.namespace)
        try await withTemporaryDirectory { directory in
            let path = "\(directory)/\(gone.start)aaaaaa"
            try write("x\n", to: path + "/config")
            let gate = ThreadGate()
            await GitViewDirectory.removeLeft(in: directory, within: .milliseconds(1)) { _ in
                gate.wait()
                gate.open()
                // Once it tells, the directory is in use: nothing is removed behind the end of the test.
                return Array("GIT_COMMON_DIR=\(path)".utf8)
            }
            #expect(FileManager.default.fileExists(atPath: path), "it waits")
            gate.open()
        }
    }

    @Test(
        "What git would wait for is named at once, and nothing is read past it",
        arguments: [
            ("rm .git/HEAD; mkfifo .git/HEAD", ".git/HEAD"),
            ("rm .git/config; mkfifo .git/config", ".git/config"),
            ("rm .git/index; mkfifo .git/index", ".git/index"),
            ("rm .git/index; ln -s /dev/zero .git/index", ".git/index"),
            ("mkfifo .git/packed-refs", ".git/packed-refs"),
            ("rm .git/refs/heads/main; mkfifo .git/refs/heads/main", ".git/refs/heads/main"),
            ("mkfifo .git/objects/info/alternates", ".git/objects/info/alternates"),
            ("rm -f .git/info/exclude; mkfifo .git/info/exclude", ".git/info/exclude"),
            ("mkfifo .gitignore", ".gitignore"), ("mkfifo .gitattributes", ".gitattributes"),
            ("mkdir -p d/e; echo x >d/e/x; mkfifo d/e/.gitignore", "d/e/.gitignore"),
            ("mkdir d; echo x >d/x; mkfifo d/.gitattributes", "d/.gitattributes"),
            ("git repack -adq; cd .git/objects/pack; rm -f *.idx; mkfifo $(ls *.pack | sed 's/pack$/idx/')", ".idx"),
            ("rm -rf .git; mkfifo .git", ".git"), ("rm -rf .git/refs; touch .git/refs", ".git/refs"),
        ]
    )
    func pipes(script: String, name: String) async throws {
        try await TestRepository.with { repository in
            try await repository.shell(script)
            let error = await #expect(throws: GitError.self) {
                let opened = try await GitRepository.open(repository.root)
                _ = try await repository.snapshots.take(opened, isKept: true)
            }
            #expect(error?.message.contains(name) == true, "\(error?.message ?? "none")")
        }
    }

    @Test(
        "A `.git` that points to another repository's working tree, or to none, is not followed",
        arguments: [
            "gitdir: ../other/.git/worktrees/other-tree", "gitdir: /nonexistent", "gitdir: /dev/zero", "", "nothing",
        ]
    )
    func elsewhere(pointer: String) async throws {
        try await TestRepository.with { repository in
            try await repository.shell(
                "git clone -q . ../other; git -C ../other worktree add -q ../other-tree -b tree 2>/dev/null; rm -rf .git"
            )
            try write(pointer + "\n", to: repository.root + "/.git")
            let error = await #expect(throws: GitError.self) { try await GitRepository.open(repository.root) }
            #expect(error?.message.contains(repository.root + "/.git") == true, "\(error?.message ?? "none")")
        }
    }

    @Test("The changes in a worktree are not those of another repository that its `.git` was made to point to")
    func otherRepository() async throws {
        try await TestRepository.with { repository in
            try await withGitHost(repository, worktrees: true) { (_: TestHost, device: TestDevice) async throws in
                let (chat, turn) = try await device.startTurn(
                    #"git init -q ../other; echo "gitdir: $PWD/../other/.git" >.git"#
                )
                _ = try await device.events(chat: chat, turn: turn)
                let reply = try await device.get("/companion/chats/\(chat)/changes")
                #expect(reply.status == 409 && reply.error?.contains(".git does not lead to") == true, "\(reply.body)")
            }
        }
    }

    @Test(
        "A repository of another user is read once the host's owner has git trust it",
        .enabled(if: geteuid() == 0, "needs root, to make it")
    )
    func otherUser() async throws {
        try await TestRepository.with { repository in
            try await repository.shell("chown -R 12345:12345 .")
            let refused = await #expect(throws: GitError.self) { try await GitRepository.open(repository.root) }
            #expect(refused?.message.contains("git config --global --add safe.directory \(repository.root)") == true)
            let home = repository.root + "-home"
            func isSafe(_ lines: String...) async throws -> Bool {
                try write("[safe]\n" + lines.map { "\tdirectory = \($0)\n" }.joined(), to: home + "/.gitconfig")
                return try await SafeDirectories.contains(repository.root, home: home)
            }
            #expect(try await isSafe(repository.root))
            #expect(try await isSafe("*"))
            let above = String(repository.root.dropLast("/project".count))
            #expect(try await isSafe(above + "/*"))
            #expect(try await !isSafe(above))
            #expect(try await !isSafe(repository.root, ""))
            #expect(try await !isSafe())
        }
    }
}
