import CompanionTestSupport
import CompanionWire
import FoundationEssentials
import Testing

@testable import CompanionHost

/// Repositories whose working tree has less than the commit, or other content.
@Suite("Sparse checkouts, partial clones and Git LFS", .timeLimit(.minutes(15)))
struct GitShapeTests {
    private static let hasLFS = AgentProgram.find("git-lfs") != nil

    private static let files = """
        mkdir in out; echo i >in/i; echo o >out/o; echo r >r; git add -A; git commit -qm one
        """

    @Test(
        "What is not checked out is not deleted, in whatever way the checkout is sparse",
        arguments: ["--cone in", "--no-cone /in/ /r", "--sparse-index in"]
    )
    func sparse(shape: String) async throws {
        try await TestRepository.with(Self.files + "; git sparse-checkout set \(shape)") { repository in
            let changes = try await repository.changes(by: "echo two >>in/i; rm r; echo n >n")
            #expect(
                changes.files.map(\.summary) == ["modified in/i +1 -0", "added n +1 -0 untracked", "deleted r +0 -1"]
            )
            #expect(changes.count == 3)
            let widened = try await repository.changes(by: "git sparse-checkout add out; echo two >>out/o")
            #expect(widened.files.map(\.summary) == ["modified out/o +1 -0"])
            let narrowed = try await repository.changes(
                by: "git checkout -q out; git sparse-checkout set \(shape); git commit -qam more; test ! -e out/o"
            )
            #expect(narrowed.files.map(\.summary) == ["modified out/o +0 -1"])
        }
    }

    @Test("A file that is there counts, whatever the index says of it")
    func presentFile() async throws {
        try await TestRepository.with(Self.files + "; git sparse-checkout set in") { repository in
            let changes = try await repository.changes(by: "mkdir out; echo other >out/o")
            #expect(changes.files.map(\.summary) == ["modified out/o +1 -1"])
            let gone = try await repository.changes(by: "rm in/i; git update-index --no-skip-worktree out/o; rm -r out")
            #expect(gone.files.map(\.summary) == ["deleted in/i +0 -1", "deleted out/o +0 -1"])
        }
    }

    @Test("Files that an agent removes and has git skip are counted, and those that were skipped before are not")
    func skippedSince() async throws {
        try await TestRepository.with(Self.files) { repository in
            try await withGitHost(repository) { (_: TestHost, device: TestDevice) async throws in
                let skip = "git config core.sparseCheckout true; git update-index --skip-worktree"
                let (chat, turn) = try await device.startTurn("\(skip) r; rm r; test ! -e r && echo gone")
                #expect(try await device.events(chat: chat, turn: turn).answer == "gone\n")
                let changes = try await device.changes(chat)
                #expect(changes.files.elements.isEmpty && changes.notCheckedOut == 1)
                #expect(try await device.changes(chat, "?file=r").notCheckedOut == 1)
                #expect(try await device.changes(chat, "?file=in").notCheckedOut == nil)
                let (next, last) = try await device.startTurn("\(skip) in/i; rm in/i")
                _ = try await device.events(chat: next, turn: last)
                #expect(try await device.changes(next).notCheckedOut == 1, "r was skipped before")
                #expect(try await device.changes(chat).notCheckedOut == 2)
            }
        }
    }

    @Test("The working tree of a session is as sparse as the project", arguments: ["--cone in", "--no-cone /in/"])
    func sparseWorktree(shape: String) async throws {
        try await TestRepository.with(Self.files + "; git sparse-checkout set \(shape)") { repository in
            try await withGitHost(repository, worktrees: true) { (_: TestHost, device: TestDevice) async throws in
                let (chat, turn) = try await device.startTurn(
                    "ls -R | tr '\\n' ' '; git status --short; git sparse-checkout list"
                )
                let answer = try await device.events(chat: chat, turn: turn).answer
                #expect(answer.contains("in") && !answer.contains("out"), "\(answer)")
                #expect(try await device.changes(chat).files.elements.isEmpty)
                #expect(try await device.command(.sessionRemove(chatID: chat, isForced: false)).status == 200)
                #expect(try await repository.shell("git worktree list; git branch").split(separator: "\n").count == 2)
            }
        }
    }

    @Test("A partial clone that is sparse lists what a commit changed outside, also where its files were never fetched")
    func partial() async throws {
        let clone = """
            mkdir ../source; cd ../source; git init -q -b main; \(Self.files); git checkout -q -b other
            echo two >>out/o; echo n >out/n; git add -A; git commit -qm two; git checkout -q main
            git config uploadpack.allowFilter true; cd ../project; rm -rf .git
            git clone -q --filter=blob:none --sparse file://$PWD/../source ../clone; mv ../clone/.git .
            git sparse-checkout set in; git checkout -q -f main
            """
        try await TestRepository.with(clone) { repository in
            let opened = try await GitRepository.open(repository.root)
            #expect(opened.isPartial && opened.isSparse)
            #expect(try await repository.changes(by: "echo two >>in/i").files.map(\.summary) == ["modified in/i +1 -0"])
            let base = try await repository.snapshots.take(opened, isKept: true)
            try await repository.shell("git checkout -q other")
            let now = try await repository.snapshots.take(try await GitRepository.open(repository.root), isKept: false)
            let changes = try await repository.snapshots.changes(from: base.tree, to: now)
            #expect(changes.map(\.file.summary) == ["added out/n", "modified out/o"])
            #expect(try await repository.snapshots.count(from: base, to: now) == 2)
            let error = await #expect(throws: GitError.self) {
                _ = try await repository.snapshots.difference(from: base.tree, to: now, of: nil)
            }
            #expect(
                error?.message.contains("git -C \(repository.root) archive HEAD") == true,
                "\(error?.message ?? "")"
            )
            // The advice works.
            try await repository.shell("git archive HEAD >/dev/null; git archive main >/dev/null")
            let difference = try await repository.snapshots.difference(from: base.tree, to: now, of: nil)
            #expect(difference.text.contains("\n+two\n"))
            await now.remove()
        }
    }

    @Test(
        "A file of Git LFS that was pulled is as in the commit, also a large one, and one with other content is not",
        .enabled(if: hasLFS, "git-lfs is not installed")
    )
    func pulled() async throws {
        let script = """
            git lfs install --local >/dev/null; git lfs track '*.bin' >/dev/null
            head -c 9000000 /dev/urandom >large.bin; echo small >small.bin; echo "a
            b" >"$(printf 'odd\\nname').bin"; echo 0:x >0:x.bin; git add -A; git commit -qm one
            """
        try await TestRepository.with(script) { repository in
            #expect(try await repository.shell("git cat-file -p HEAD:small.bin").hasPrefix("version https://git-lfs"))
            func changed() async throws -> [String] {
                let opened = try await GitRepository.open(repository.root)
                let now = try await repository.snapshots.take(opened, isKept: false)
                let changes = try await repository.snapshots.changes(from: opened.commit ?? "", to: now)
                await now.remove()
                return changes.map(\.file.summary)
            }
            #expect(try await changed() == ["modified \"odd\\nname.bin\" +2 -3"], "git reads names line by line")
            try await repository.shell("rm odd*; git commit -qam two")
            #expect(try await changed() == [])
            try await repository.shell("rm *.bin; GIT_LFS_SKIP_SMUDGE=1 git checkout -q .")
            #expect(try await changed() == [])
            let pulled = try await repository.changes(by: "git lfs pull")
            #expect(pulled.files.map(\.summary) == [])
            #expect(try await repository.shell("cat small.bin") == "small\n")
            let other = try await repository.changes(by: "echo other >small.bin; touch large.bin")
            #expect(other.files.map(\.summary) == ["modified small.bin +1 -3"])
            let same = try await repository.changes(by: "printf 'other' >small.bin; truncate -s 9000001 large.bin")
            #expect(same.files.map(\.summary) == ["modified large.bin left out 9000001", "modified small.bin +1 -1"])
        }
    }

    @Test(
        "A pointer of Git LFS that is committed in a session hides no content, also with an attribute",
        arguments: [false, true]
    )
    func plantedPointer(hasAttribute: Bool) async throws {
        try await TestRepository.with { repository in
            let opened = try await GitRepository.open(repository.root)
            let attribute = hasAttribute ? "echo 'run.sh filter=lfs' >.gitattributes; git add .gitattributes; " : ""
            try await repository.shell(
                attribute + """
                    echo evil >run.sh
                    blob=$( (echo version https://git-lfs.github.com/spec/v1
                    echo "oid sha256:$(sha256sum run.sh | cut -d' ' -f1)"; echo size 5) | git hash-object -w --stdin)
                    git update-index --add --cacheinfo "100644,$blob,run.sh"; git commit -qm two
                    """
            )
            var now = try await GitRepository.open(repository.root)
            #expect(now.firstCommit == now.commit && now.commit != opened.commit)
            for (first, isPulled) in [(opened.commit, false), (nil, false), (now.commit, hasAttribute)] {
                now.firstCommit = first
                let taken = try await repository.snapshots.take(now, isKept: false)
                let changes = try await repository.snapshots.changes(from: opened.commit ?? "", to: taken)
                let summary = changes.last?.file.summary
                #expect(summary == (isPulled ? "added run.sh +3 -0" : "added run.sh +1 -0"), "\(first ?? "none")")
                await taken.remove()
            }
        }
    }

    @Test(
        "A worktree with pulled files of Git LFS has nothing to lose",
        .enabled(if: hasLFS, "git-lfs is not installed")
    )
    func pulledInWorktree() async throws {
        let script = """
            git lfs install --local >/dev/null; git lfs track '*.bin' >/dev/null
            echo small >small.bin; git add -A; git commit -qm one
            """
        try await TestRepository.with(script) { repository in
            try await withGitHost(repository, worktrees: true) { (_: TestHost, device: TestDevice) async throws in
                let (chat, turn) = try await device.startTurn("head -c 7 small.bin; git lfs pull; cat small.bin")
                #expect(try await device.events(chat: chat, turn: turn).answer == "versionsmall\n")
                #expect(try await device.changes(chat).files.elements.isEmpty)
                #expect(try await device.command(.sessionRemove(chatID: chat, isForced: false)).status == 200)
            }
        }
    }
}
