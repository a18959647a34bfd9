import CompanionWire
import FoundationEssentials
import Glibc
import LocalState
import Testing

@testable import CompanionHost

/// What is kept of working trees and compared, with real repositories.
@Suite("Snapshots of working trees", .timeLimit(.minutes(15)))
struct GitSnapshotTests {
    static let before = """
        printf 'one\\ntwo\\nthree\\nfour\\nfive\\n' >a; echo gone >gone; echo '*.log' >.gitignore; mkdir d
        printf '1\\n2\\n3\\n4\\n5\\n6\\n7\\n' >d/old; git add -A; git commit -qm one
        """

    @Test(
        "Each kind of change is listed as what it is",
        arguments: [
            ("echo six >>a", ["modified a +1 -0"]), ("echo new >'b c'", ["added b c +1 -0 untracked"]),
            ("rm gone", ["deleted gone +0 -1"]), ("mv d/old d/new", ["renamed d/old -> d/new +0 -0 untracked"]),
            ("printf 'a\\0b' >bin", ["added bin binary untracked"]), ("echo x >noise.log", []),
            ("echo six >>a; git commit -qam two", ["modified a +1 -0"]),
            ("git checkout -q -b other; echo x >n; git add n; git commit -qm n", ["added n +1 -0"]),
            ("git checkout -q --detach; echo six >>a", ["modified a +1 -0"]),
            ("rm a; ln -s /etc/passwd a", ["retyped a +1 -5"]), ("ln -s /etc link", ["added link +1 -0 untracked"]),
            ("chmod +x a", ["modified a +0 -0"]),
            ("rm -r d; echo x >d", ["added d +1 -0 untracked", "deleted d/old +0 -7"]),
            ("rm a; mkdir a; echo x >a/b", ["deleted a +0 -5", "added a/b +1 -0 untracked"]),
            (
                "rm a; mkdir -p a/b; head -c 9000000 /dev/zero >a/b/c",
                ["deleted a +0 -5", "added a/b/c untracked left out 9000000"]
            ),
            ("rm a; mkdir a", ["deleted a +0 -5"]), ("rm a; git init -q a", ["deleted a +0 -5"]),
            (
                "mkdir ../out; echo root: >../out/old; rm -r d; ln -s ../out d",
                ["added d +1 -0 untracked", "deleted d/old +0 -7"]
            ),
            ("git init -q e; echo x >e/x", ["added e untracked repository"]), ("mkfifo pipe", []),
            ("mkfifo p; mv p gone", ["deleted gone +0 -1"]), ("git rm -q --cached gone", []),
            ("git mv gone here", ["renamed gone -> here +0 -0 untracked"]),
        ]
    )
    func kinds(script: String, expected: [String]) async throws {
        try await TestRepository.with(Self.before) { (repository: TestRepository) async throws in
            let changes = try await repository.changes(by: script)
            #expect(changes.files.map(\.summary) == expected)
            #expect(changes.count == expected.count)
            #expect(!changes.difference.contains("root:"), "what a link leads to is not read")
        }
    }

    @Test("What was changed, staged or not tracked before is not the agent's, and is when it is changed again")
    func dirtyBefore() async throws {
        let dirty = "; echo six >>a; echo u >u; echo v >v; echo s >s; git add s; rm gone"
        try await TestRepository.with(Self.before + dirty) { repository in
            #expect(try await repository.changes(by: "true").files.isEmpty)
            let changes = try await repository.changes(by: "echo seven >>a; echo w >>u; rm v; git checkout -q gone")
            #expect(
                changes.files.map(\.summary) == [
                    "modified a +1 -0", "added gone +1 -0", "modified u +1 -0 untracked", "deleted v +0 -1",
                ]
            )
            #expect(changes.difference.contains("\n+seven\n") && !changes.difference.contains("\n+six\n"))
        }
    }

    @Test("A repository without commits, and one whose first commit comes later")
    func unborn() async throws {
        try await TestRepository.with("echo one >a") { repository in
            let opened = try await GitRepository.open(repository.root)
            #expect(opened.commit == nil && opened.branch == "main")
            let changes = try await repository.changes(by: "echo b >b; git add -A; git commit -qm first")
            #expect(changes.files.map(\.summary) == ["added b +1 -0"])
        }
    }

    @Test("A file that is too large is listed without its content, if it has changed")
    func large() async throws {
        var limits = GitSnapshots.Limits()
        limits.file = 1000
        let script = "head -c 2000 /dev/zero >same; cp same other; cp same tracked; cp same less; echo x >more"
        try await TestRepository.with(script + "; git add tracked; git commit -qm one", limits: limits) { repository in
            let changes = try await repository.changes(
                by: """
                    head -c 3000 /dev/zero | tr '\\0' 'SECRET' >other; echo >>tracked; echo x >less; cp same more
                    cp same new; echo +Subproject commit ffffffff >small
                    """
            )
            #expect(
                changes.files.map(\.summary) == [
                    "modified less untracked left out 0", "modified more untracked left out 2000",
                    "added new untracked left out 2000", "modified other untracked left out 3000",
                    "added small +1 -0 untracked", "modified tracked left out 2001",
                ]
            )
            #expect(changes.difference.hasPrefix("diff --git a/small b/small\n") && !changes.difference.contains("SS"))
            #expect(changes.difference.hasSuffix("++Subproject commit ffffffff\n"))
        }
    }

    @Test("All files together have a limit, and so has the difference, which ends with a whole line")
    func limits() async throws {
        var limits = GitSnapshots.Limits()
        (limits.total, limits.difference) = (3000, 500)
        try await TestRepository.with(limits: limits) { repository in
            let changes = try await repository.changes(
                by: "for n in 1 2 3 4; do head -c 1000 /dev/zero | tr '\\0' '\\n' >f$n; done"
            )
            #expect(changes.files.count(where: { $0.leftOut == 1000 }) == 1)
            #expect(changes.files.count == 4 && changes.isCut)
            #expect(changes.difference.utf8.count <= 500 && changes.difference.hasSuffix("\n"))
        }
    }

    @Test("Names are bytes: with line ends, quotes and without being UTF-8")
    func names() async throws {
        try await TestRepository.with { repository in
            let changes = try await repository.changes(
                by: """
                    echo 1 >"$(printf 'a\\nb')"; echo 2 >"$(printf 'caf\\351')"; echo 3 >'q"\\'; echo 4 >é
                    echo 5 >' -x'
                    """
            )
            let names = [" -x", #""a\nb""#, #""caf\351""#, #""q\"\\""#, "é"]
            #expect(changes.files.map(\.path) == names)
            for name in names {
                let path = try #require(changes.files.first { $0.path == name }).path
                #expect(changes.difference.contains(path.hasPrefix("\"") ? String(path.dropFirst()) : path), "\(name)")
            }
            let now = try await repository.snapshots.take(try await GitRepository.open(repository.root), isKept: false)
            let all = try await repository.snapshots.changes(from: now.tree, to: now)
            #expect(all.isEmpty)
            await now.remove()
        }
    }

    @Test("Nothing that a repository's configuration, attributes or hooks name is run")
    func hostile() async throws {
        try await TestRepository.with(Self.before) { (repository: TestRepository) async throws in
            let mark = repository.root + "-ran"
            let program = repository.root + "-program"
            try write("#!/bin/sh\necho \"$@\" >>'\(mark)'\ncat\n", to: program)
            try makeExecutable(program)
            try await repository.shell(
                """
                for key in filter.x.clean filter.x.smudge filter.x.process diff.x.command diff.x.textconv \
                    core.fsmonitor core.pager core.editor diff.external core.sshCommand gpg.program \
                    credential.helper core.alternateRefsCommand merge.x.driver interactive.diffFilter core.askPass \
                    sequence.editor uploadpack.packObjectsHook; do git config "$key" '\(program)'; done
                git config alias.diff-tree '!\(program)'; git config alias.rev-parse '!\(program)'
                git config filter.x.required true; git config core.hooksPath .hooks; mkdir .hooks
                git config extensions.partialClone evil; git config core.repositoryFormatVersion 1
                git config remote.evil.url 'ext::\(program) %S'; git config remote.evil.promisor true
                git config protocol.ext.allow always; git config core.untrackedCache true
                for hook in post-checkout post-index-change pre-commit reference-transaction; do
                    cp '\(program)' .hooks/$hook; cp '\(program)' .git/hooks/$hook; done
                echo '* filter=x diff=x merge=x' >.gitattributes
                """
            )
            let changes = try await repository.changes(by: "echo six >>a; echo n >n; echo '* text' >>.gitattributes")
            #expect(
                changes.files.map(\.summary) == [
                    "modified .gitattributes +1 -0 untracked", "modified a +1 -0", "added n +1 -0 untracked",
                ]
            )
            #expect(!FileManager.default.fileExists(atPath: mark), "\((try? contents(of: mark)) ?? "")")
            // It would run them otherwise.
            try await repository.shell("GIT_PAGER= git status >/dev/null 2>&1 || true")
            #expect(FileManager.default.fileExists(atPath: mark))
        }
    }

    @Test("The repository is left as it was: no object, reference or index of it is changed")
    func untouched() async throws {
        try await TestRepository.with(Self.before + "; echo six >>a; echo u >u") { repository in
            let list = "find .git -type f | sort | xargs sha1sum; git show-ref"
            let before = try await repository.shell(list)
            _ = try await repository.changes(by: "echo x >>a")
            #expect(try await repository.shell(list) == before)
            #expect(try FileManager.default.contentsOfDirectory(atPath: repository.state + "/tmp").isEmpty)
        }
    }

    @Test("A submodule is said by its commits, and its files are not read")
    func submodule() async throws {
        let script = """
            git init -q lib; cd lib; echo 1 >1; git add 1; git commit -qm 1; cd ..; git add lib 2>/dev/null
            git commit -qm lib
            """
        try await TestRepository.with(script) { repository in
            #expect(try await repository.changes(by: "echo dirty >lib/2").files.isEmpty)
            let changes = try await repository.changes(by: "cd lib; git add 2; git commit -qm 2")
            #expect(changes.files.map(\.summary) == ["modified lib repository"])
            #expect(changes.difference.contains("+Subproject commit "))
        }
    }

    @Test("A damaged index of the host's is made again, and a repository without its objects is an error")
    func damaged() async throws {
        try await TestRepository.with(Self.before) { (repository: TestRepository) async throws in
            let snapshots = repository.snapshots
            let opened = try await GitRepository.open(repository.root)
            let base = try await snapshots.take(opened, isKept: true)
            for home in try FileManager.default.contentsOfDirectory(atPath: repository.state) where home != "tmp" {
                try write("broken", to: "\(repository.state)/\(home)/index")
            }
            let again = try await snapshots.take(opened, isKept: false)
            #expect(again.tree == base.tree)
            try await repository.shell("rm -rf .git/objects/*")
            await #expect(throws: GitError.self) { try await snapshots.take(opened, isKept: false) }
        }
    }

    @Test(
        "Of a project below the top, only its own changes are listed, by their paths there, whatever it is called",
        arguments: ["apps/web", "a b/c*d", ":(top)x", "new [1]?/é"]
    )
    func folders(name: String) async throws {
        let script = """
            mkdir -p '\(name)/d' other cXd; echo one >'\(name)/a'; echo gone >'\(name)/gone'; echo 1 >'\(name)/d/old'
            echo x >other/a; echo '*.log' >.gitignore; git add -A; git commit -qm one
            """
        try await TestRepository.with(script) { (repository: TestRepository) async throws in
            let changes = try await repository.changes(
                by: """
                    echo y >>other/a; git commit -qam two; echo z >>other/a; echo n >n
                    cd '\(name)'; echo two >>a; rm gone; echo u >u; mkdir e; mv d/old e/new; echo l >x.log
                    head -c 9000000 /dev/zero >large
                    """,
                in: name
            )
            #expect(
                changes.files.map(\.summary) == [
                    "modified a +1 -0", "renamed d/old -> e/new +0 -0 untracked", "deleted gone +0 -1",
                    "added large untracked left out 9000000", "added u +1 -0 untracked",
                ]
            )
            #expect(changes.count == 5)
            #expect(changes.difference.hasPrefix("diff --git a/a b/a\n") && !changes.difference.contains("other"))
        }
    }

    @Test("A repository that is made in a project below the top, or above it, hides nothing", arguments: [true, false])
    func plantedRepository(isTracked: Bool) async throws {
        let script = "echo t >t; git add t; git commit -qm t; mkdir -p p/app; echo one >p/app/a"
        try await TestRepository.with(script + (isTracked ? "; git add -A; git commit -qm one" : "")) { repository in
            let changes = try await repository.changes(
                by: "git init -q p; git init -q p/app; echo two >>p/app/a; echo b >p/app/b",
                in: "p/app"
            )
            let first = "modified a +1 -0" + (isTracked ? "" : " untracked")
            #expect(changes.files.map(\.summary) == [first, "added b +1 -0 untracked"])
        }
    }

    @Test("Files below a project that lists above it hide are found, by the lists of its first commit")
    func hiddenFromAbove() async throws {
        let script = "echo '*.o' >.gitignore; mkdir -p p/app; echo 1 >p/app/a; git add -A; git commit -qm one"
        try await TestRepository.with(script) { (repository: TestRepository) async throws in
            let opened = try await GitRepository.open(repository.root, folder: "p/app")
            let base = try await repository.snapshots.take(opened, isKept: true)
            try await repository.shell(
                """
                echo '*' >.gitignore; echo '*' >p/.gitignore; echo 1 >n; cd p/app; echo 1 >b.o; echo 1 >x
                git init -q own; git add -f ../.gitignore ../../.gitignore; git commit -qm two
                """
            )
            let again = try await GitRepository.open(repository.root, folder: "p/app")
            func hidden(_ commit: String?, after start: Date? = nil) async throws -> [String] {
                let now = try await repository.snapshots.take(again, isKept: false, after: GitTree(name: base.tree))
                #expect(try await repository.snapshots.changes(from: base.tree, to: now).isEmpty)
                return try await repository.snapshots.hiddenFiles(in: now, since: commit, changedAfter: start)
                    .map(\.text).sorted()
            }
            #expect(try await hidden(opened.commit) == ["own", "x"])
            #expect(try await hidden(opened.commit, after: .distantFuture).isEmpty)
            #expect(try await hidden(again.commit).isEmpty)
            #expect(try await hidden(nil) == ["b.o", "own", "x"])
            await #expect(throws: GitError.self) { try await hidden(String(repeating: "1", count: 40)) }
        }
    }

    @Test(
        "The lists of files to ignore of a commit hide what they hid, whatever their directory is called",
        arguments: [
            "*\n!x\n", "!\nx\n", "/x\n", "a/b\n", "**\n", "a/**\n", "**/b\n", "a/\r\n", "x  \n", "e\\ \n", "\\ \n",
            "\\!n\n", "\\#h\n", "x\r\n", "\u{FEFF}x\n", "[x]\n", "*?\n", "/*/\n!/a/\n", "#x\n/x",
        ]
    )
    func listsOfCommit(content: String) async throws {
        let script = """
            for d in 'd[x' 'new\nline' dx new-line .; do mkdir -p "$d/a/b" "$d/s/a"; cd "$d"
            for f in x '#h' '!n' ' ' 'e ' n a/b/x a/x s/x s/a/b; do echo 1 >"$f"; done; cd "$OLDPWD"; done
            """
        try await TestRepository.with(script) { (repository: TestRepository) async throws in
            let lists = ["d[x/.gitignore", "new\nline/.gitignore"]
            for list in lists { try write(content, to: "\(repository.root)/\(list)") }
            let names = lists.map { "'\($0)'" }.joined(separator: " ")
            try await repository.shell("git --literal-pathspecs add -f \(names); git commit -qm one")
            let all = try await repository.shell("git ls-files -z --others")
            let shown = try await repository.shell("git ls-files -z --others --exclude-standard")
            // From now on git ignores all files.
            try await repository.shell("for list in .gitignore \(names); do echo '*' >\"$list\"; done")
            let opened = try await GitRepository.open(repository.root)
            let now = try await repository.snapshots.take(opened, isKept: false)
            let hidden = try await repository.snapshots.hiddenFiles(in: now, since: opened.commit)
            let expected = Set(shown.split(separator: "\0").map { GitPath($0.utf8) } + [GitPath(".gitignore".utf8)])
            #expect(now.others.isEmpty && hidden == expected && shown != all)
            await now.remove()
        }
    }

    @Test("Files that were only touched are read once")
    func touched() async throws {
        var limits = GitSnapshots.Limits()
        limits.listing = .zero
        try await TestRepository.with(Self.before, limits: limits) { (repository: TestRepository) async throws in
            let changes = try await repository.changes(by: "touch -d 2001-01-01 a gone")
            #expect(changes.files.isEmpty)
            let home = repository.snapshots.home(of: try await GitRepository.open(repository.root))
            let stale = try await repository.shell("GIT_INDEX_FILE='\(home)/index' git diff-files --name-only")
            #expect(stale.isEmpty)
        }
    }

    @Test("A repository whose objects have SHA-256 names, and a folder of one", arguments: ["", "d"])
    func sha256(folder: String) async throws {
        let script = "rm -rf .git; git init -q -b main --object-format=sha256 .; " + Self.before
        try await TestRepository.with(script) { (repository: TestRepository) async throws in
            let changes = try await repository.changes(
                by: "echo 8 >>d/old; echo n >d/n; head -c 9000000 /dev/zero >d/large",
                in: folder
            )
            let expected = ["large", "n", "old"].map { folder.isEmpty ? "d/" + $0 : $0 }
            #expect(changes.files.map(\.path) == expected && changes.count == 3)
        }
    }

    @Test("A project is in the repository above it, unless that ignores it or it has its own")
    func places() async throws {
        try await TestRepository.with(Self.before) { (repository: TestRepository) async throws in
            let (root, folder) = (repository.root, repository.root + "/d")
            func place() async -> GitRepository.Place? { await GitRepository.place(around: folder, inside: folder) }
            let above = GitRepository.Place(root: root, folder: "d")
            #expect(await place() == above)
            try await repository.shell("echo d/ >.gitignore")
            #expect(await place() == above, "it has files that are tracked")
            try await repository.shell("git rm -rq --cached d")
            #expect(await place() == nil)
            try await repository.shell("echo >.gitignore")
            #expect(await place() == above)
            try await repository.shell("git init -q d")
            #expect(await place() == GitRepository.Place(root: folder, folder: ""))
            try await repository.shell("rm -rf d/.git; mv .git ../real; ln -s ../real .git")
            #expect(await place() == nil)
        }
    }

    @Test("A directory in a project is in its repository; one above the project is not in it")
    func roots() async throws {
        try await TestRepository.with(Self.before) { (repository: TestRepository) async throws in
            let root = repository.root
            #expect(GitRepository.root(around: root + "/d", inside: root) == root)
            #expect(GitRepository.root(around: root, inside: root) == root)
            #expect(GitRepository.root(around: root + "/d", inside: root + "/d") == nil)
            try await repository.shell("git init -q d")
            #expect(GitRepository.root(around: root + "/d", inside: root) == root + "/d")
            try await repository.shell("mv .git ../real; ln -s ../real .git")
            #expect(GitRepository.root(around: root, inside: root) == nil, "a link leads out of the project")
        }
    }
}
