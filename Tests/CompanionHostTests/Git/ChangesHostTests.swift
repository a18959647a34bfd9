import CompanionWire
import FoundationEssentials
import Testing

@testable import CompanionHost

/// What agents change, over a whole host. The agent runs its prompts as shell scripts.
@Suite("What agents have changed", .timeLimit(.minutes(15)))
struct ChangesHostTests {
    @Test("A turn's end says how many files it has changed, and the chat's changes are those since its session began")
    func turns() async throws {
        try await TestRepository.with("echo one >a; git add a; git commit -qm one; echo mine >a; echo u >u") {
            repository in
            try await withGitHost(repository) { (_: TestHost, device: TestDevice) async throws in
                let (chat, turn) = try await device.startTurn("echo two >>a; echo b >b")
                let reply = try await device.events(chat: chat, turn: turn)
                #expect(reply.frames.last == .done(files: 2))
                #expect(reply.body.contains(#"data: {"type":"done","filesChanged":2}"#))
                let changes = try await device.changes(chat)
                #expect(changes.files.elements.map(\.summary) == ["modified a +1 -0", "added b +1 -0 untracked"])
                let head = try await repository.shell("git rev-parse HEAD").trimmingWhitespace()
                #expect(changes.baseCommit == head && changes.commit == head && changes.branch == "main")
                #expect(changes.diff?.contains("+two\n") == true && changes.diff?.contains("+mine") == false)
                #expect(!changes.truncated && changes.directory == repository.root)

                // A commit of the agent's is a change as well, and not one of the next turn.
                let commit = "git add b; git -c user.name=A -c user.email=a commit -qm b"
                #expect(try await device.ask(commit, chat) == .done(files: nil))
                #expect(try await device.ask("rm b", chat) == .done(files: 1))
                #expect(try await device.ask("cat a", chat) == .done(files: nil))
                let later = try await device.changes(chat, "?stat=1")
                #expect(later.files.elements.map(\.summary) == ["modified a +1 -0"] && later.diff == nil)
            }
        }
    }

    @Test("A project below the top of a repository stays in that, also once its agent has made another one there")
    func folder() async throws {
        let script = "mkdir -p apps/web other; echo one >apps/web/a; echo x >other/a; git add -A; git commit -qm one"
        try await TestRepository.with(script) { repository in
            let project = repository.root + "/apps/web"
            try await withGitHost(repository, project: project) { (_: TestHost, device: TestDevice) async throws in
                let (chat, turn) = try await device.startTurn("echo two >>a; echo b >b; echo y >>../../other/a")
                #expect(try await device.events(chat: chat, turn: turn).frames.last == .done(files: 2))
                let changes = try await device.changes(chat)
                #expect(changes.files.elements.map(\.summary) == ["modified a +1 -0", "added b +1 -0 untracked"])
                #expect(changes.directory == project && changes.branch == "main")
                #expect(changes.diff?.contains("+two\n") == true && changes.diff?.contains("other") == false)
                let one = try await device.changes(chat, "?file=b")
                #expect(one.diff?.hasPrefix("diff --git a/b b/b\n") == true)

                let planted = "git add b; git init -q .; echo c >c"
                #expect(try await device.ask(planted, chat) == .done(files: 1))
                let later = try await device.changes(chat)
                #expect(
                    later.files.elements.map(\.summary) == [
                        "modified a +1 -0", "added b +1 -0", "added c +1 -0 untracked",
                    ]
                )
                #expect(later.baseCommit == changes.baseCommit && later.baseCommit != nil)
                let (other, next) = try await device.startTurn("true")
                _ = try await device.events(chat: other, turn: next)
                #expect(try await device.changes(other).baseCommit == nil, "a new session is in the new repository")
            }
        }
    }

    @Test("One file or directory can be asked for, by whatever name it has")
    func oneFile() async throws {
        try await TestRepository.with("mkdir d; echo 1 >d/old; echo 2 >d/x; git add -A; git commit -qm one") {
            repository in
            try await withGitHost(repository) { (_: TestHost, device: TestDevice) async throws in
                let (chat, turn) = try await device.startTurn(
                    "mv d/old d/new; echo 3 >>d/x; echo 4 >'a b&c'; echo 5 >\"$(printf 'caf\\351')\"; git add 'a b&c'"
                )
                _ = try await device.events(chat: chat, turn: turn)
                func files(_ query: String) async throws -> [String] {
                    try await device.changes(chat, "?file=" + query).files.elements.map(\.summary)
                }
                #expect(try await files("d%2Fx") == ["modified d/x +1 -0"])
                #expect(try await files("a%20b%26c") == ["added a b&c +1 -0"], "it is staged, so git knows it")
                #expect(try await files("%22caf%5C351%22") == [#"added "caf\351" +1 -0 untracked"#])
                #expect(try await files("d") == ["renamed d/old -> d/new +0 -0 untracked", "modified d/x +1 -0"])
                #expect(try await files("nothing") == [])
                let one = try await device.changes(chat, "?file=d%2Fnew")
                #expect(one.diff?.contains("rename from d/old\nrename to d/new\n") == true)
                #expect(one.diff?.contains("d/x") == false)
            }
        }
    }

    @Test("A restart of the host keeps what was there at the start")
    func restart() async throws {
        try await TestRepository.with("echo one >a; git add a; git commit -qm one; echo u >u") { repository in
            let chat = try await withGitHost(repository) { (_: TestHost, device: TestDevice) async throws in
                let (chat, turn) = try await device.startTurn("echo two >>a; echo more >>u")
                _ = try await device.events(chat: chat, turn: turn)
                return chat
            }
            try await repository.shell("git commit -qam two; rm -rf ../state/changes/tmp")
            try await withGitHost(repository) { (_: TestHost, device: TestDevice) async throws in
                let changes = try await device.changes(chat, "")
                #expect(changes.files.elements.map(\.summary) == ["modified a +1 -0", "modified u +1 -0 untracked"])
            }
        }
    }

    @Test("Who asks needs a session, and hears why it cannot be said what was changed")
    func refusals() async throws {
        try await withTemporaryDirectory { directory in
            let repository = TestRepository(root: directory + "/project", state: directory + "/x")
            try await withGitHost(repository) { (_: TestHost, device: TestDevice) async throws in
                let (chat, turn) = try await device.startTurn("echo b >b")
                #expect(try await device.events(chat: chat, turn: turn).frames.last == .done(files: nil))
                let path = "/companion/chats/\(chat)/changes"
                let reply = try await device.get(path)
                #expect(reply.status == 409 && reply.code == .changesUnavailable)
                #expect(reply.error == "The project is not a git repository")
                #expect(try await device.get("/companion/chats/none/changes").status == 404)
                try await repository.make("true")
                #expect(try await device.get(path).error == "No agent has worked in this chat yet")
                #expect(try await device.ask("true", chat) == .done(files: nil))
                #expect(try await device.changes(chat).files.elements.isEmpty)
                try await repository.shell("rm -rf .git")
                #expect(try await device.get(path).error?.contains("not a git repository any more") == true)
                var device = device
                device.token = nil
                #expect(try await device.get(path).status == 401)
                for path in [path, "/companion/sessions", "/companion/sessions/\(chat)"] {
                    #expect(try await device.get(path).code == .sessionRequired)
                }
            }
        }
    }

    @Test("A turn that fails says how many files it has changed as well")
    func failed() async throws {
        try await TestRepository.with { repository in
            try await withGitHost(repository) { (_: TestHost, device: TestDevice) async throws in
                let (chat, turn) = try await device.startTurn("echo b >b; exit 3")
                let reply = try await device.events(chat: chat, turn: turn)
                let text = "The agent's command ended with status 3"
                #expect(reply.frames.last == .failed(TurnFailure(text, files: 1)))
                #expect(try await device.ask("exit 3", chat) == .failed(TurnFailure(text)))
            }
        }
    }

    @Test("A turn that is cancelled says how many files it has changed as well")
    func cancelled() async throws {
        try await TestRepository.with { repository in
            let gate = repository.root + "-gate"
            try makePipe(gate)
            try await withGitHost(repository) { (host: TestHost, device: TestDevice) async throws in
                let (chat, turn) = try await device.startTurn("echo b >b; echo >'\(gate)'; cat '\(gate)'")
                // The agent has written its file once it writes here.
                _ = try await blocking { try contents(of: gate) }
                _ = try await host.server.administration.services.worktrees.turns.cancel(turnID: turn, chatID: chat)
                let reply = try await device.events(chat: chat, turn: turn)
                #expect(reply.frames.last == .failed(TurnFailure(TurnRunner.cancelledText, files: 1)))
            }
        }
    }

    @Test("A turn can be cancelled while it waits for what was there at its start")
    func cancelledEarly() async throws {
        try await TestRepository.with { repository in
            try await withGitHost(repository) { (host: TestHost, device: TestDevice) async throws in
                let worktrees = host.server.administration.services.worktrees
                let project = try await device.firstProject()
                let made = try await device.execute(.chatCreate(projectID: project, title: nil))
                let chat = made.result["id"]?.string ?? ""
                try await worktrees.sessions.lock.run(chat) {
                    let sent = try await device.execute(
                        .chatSend(chatID: chat, prompt: "echo b >b", model: "command", allowedTools: nil)
                    )
                    let turn = sent.result["turnId"]?.string ?? ""
                    _ = try await worktrees.turns.cancel(turnID: turn, chatID: chat)
                    let reply = try await device.events(chat: chat, turn: turn)
                    #expect(reply.frames.last == .failed(TurnFailure(TurnRunner.cancelledText)))
                }
                #expect(try await device.ask("ls", chat) == .done(files: nil))
                #expect(!FileManager.default.fileExists(atPath: repository.root + "/b"))
            }
        }
    }

    @Test("A directory that the agent commits in place of a file or repository is shown by its files")
    func committedDirectory() async throws {
        try await TestRepository.with { repository in
            try await repository.shell("echo 1 >lib; git init -q v; echo 1 >v/a")
            try await withGitHost(repository) { (_: TestHost, device: TestDevice) async throws in
                let commit = "git -c user.name=a -c user.email=a@example.org commit -qm x"
                let (chat, turn) = try await device.startTurn(
                    "rm -r lib v/.git; mkdir lib; echo e >lib/evil; echo e >v/evil; git add lib v; \(commit)"
                )
                _ = try await device.events(chat: chat, turn: turn)
                let paths = try await device.changes(chat).files.elements.map(\.path)
                #expect(paths.contains("lib/evil") && paths.contains("v/evil"), "\(paths)")
            }
        }
    }

    @Test("Files that the agent hides with the owner's list of files to ignore are named")
    func hidden() async throws {
        try await TestRepository.with { repository in
            try await withGitHost(repository) { (_: TestHost, device: TestDevice) async throws in
                let (chat, turn) = try await device.startTurn(
                    "echo b >b; echo l >x.log; echo '*.log' >>.git/info/exclude"
                )
                #expect(try await device.events(chat: chat, turn: turn).frames.last == .done(files: 1))
                let changes = try await device.changes(chat)
                #expect(changes.files.elements.map(\.summary) == ["added b +1 -0 untracked"])
                #expect(changes.hidden == 1 && changes.hiddenFiles == ["x.log"])
            }
        }
    }

    @Test("Files that a changed `.gitignore` hides are named, those of before are not, and none seems deleted")
    func hiddenByGitignore() async throws {
        let before = "mkdir d v; echo 1 >d/a; printf '*.o\\n/x\\n' >d/.gitignore; git add -A; git commit -qm 1"
        try await TestRepository.with(before) { repository in
            try await repository.shell("echo '*' >v/.gitignore; echo 1 >v/old; echo 1 >draft; echo 1 >note")
            try await withGitHost(repository) { (_: TestHost, device: TestDevice) async throws in
                let (chat, turn) = try await device.startTurn(
                    """
                    echo 2 >v/new; mkdir d/e; echo 1 >d/e/y.o; echo 1 >d/x; echo 1 >d/e/x; echo 1 >z.o; echo 2 >>note
                    mkdir w; echo '*' >w/.gitignore; echo 1 >w/b; printf '*.o\\ndraft\\nnote\\n' >.gitignore
                    """
                )
                #expect(try await device.events(chat: chat, turn: turn).frames.last == .done(files: 3))
                let changes = try await device.changes(chat)
                let summaries = changes.files.elements.map(\.summary)
                #expect(
                    summaries == [
                        "added .gitignore +3 -0 untracked", "added d/e/x +1 -0 untracked",
                        "modified note +1 -0 untracked",
                    ]
                )
                #expect(changes.hidden == 4 && changes.hiddenFiles == ["v/new", "w/.gitignore", "w/b", "z.o"])
                #expect(try await device.ask("echo c >c", chat) == .done(files: 1))
            }
        }
    }

    @Test("Changes since a second try to read the files say when the session began")
    func triedAgain() async throws {
        try await TestRepository.with { repository in
            try await withGitHost(repository) { (_: TestHost, device: TestDevice) async throws in
                try await repository.shell("mv .git/HEAD .git/HEAD-away")
                let (chat, turn) = try await device.startTurn("echo b >b")
                _ = try await device.events(chat: chat, turn: turn)
                #expect(try await device.get("/companion/chats/\(chat)/changes").code == .changesUnavailable)
                try await repository.shell("mv .git/HEAD-away .git/HEAD")
                try await device.ask("echo c >c", chat)
                let changes = try await device.changes(chat)
                #expect(changes.files.elements.map(\.path) == ["c"])
                let first = try #require(changes.firstTriedAt)
                #expect(first <= changes.startedAt)
                let (other, next) = try await device.startTurn("true")
                _ = try await device.events(chat: other, turn: next)
                #expect(try await device.changes(other).firstTriedAt == nil)
            }
        }
    }

    @Test("A host whose agent only reads keeps nothing")
    func reading() async throws {
        try await TestRepository.with { repository in
            try await withGitHost(repository, agent: .builtin) { (_: TestHost, device: TestDevice) async throws in
                let (chat, turn) = try await device.startTurn("help", model: "builtin")
                _ = try await device.events(chat: chat, turn: turn)
                let reply = try await device.get("/companion/chats/\(chat)/changes")
                #expect(reply.error == "The agent of this host only reads: it changes no files")
                #expect(!FileManager.default.fileExists(atPath: repository.state + "/tmp"))
            }
        }
    }

    @Test("The owner sees the same without a device")
    func owner() async throws {
        try await TestRepository.with { repository in
            try await withGitHost(repository) { (host: TestHost, device: TestDevice) async throws in
                let (chat, turn) = try await device.startTurn("echo b >b")
                _ = try await device.events(chat: chat, turn: turn)
                var request = AdminRequest(.changes)
                request.chat = chat
                request.stat = true
                let changes = await host.server.administration.answer(request).changes
                #expect(changes?.files.elements.map(\.summary) == ["added b +1 -0 untracked"])
                let listed = await host.server.administration.answer(AdminRequest(.sessions)).sessions
                #expect(listed?.map(\.id) == [chat] && listed?.first?.isWorktree == false)
                var removal = AdminRequest(.removeSession)
                removal.chat = chat
                let answer = await host.server.administration.answer(removal)
                #expect(answer.error?.message == "The chat has no working tree of its own: nothing is removed")
            }
        }
    }
}

/// Runs a host for a repository, and a device. The agent runs its prompts as shell scripts.
///
/// - Parameter project: Default: the repository.
func withGitHost<R: Sendable>(
    _ repository: TestRepository,
    worktrees: Bool = false,
    agent: HostAgentKind = .command(["sh"]),
    project: String? = nil,
    _ body: (TestHost, TestDevice) async throws -> R
) async throws -> R {
    try await withHostAndDevice(in: repository.root.cut(atLast: "/").map { String($0.before) }) {
        $0.agent = agent
        $0.usesWorktrees = worktrees
        if let project { $0.projects = [project] }
    } _: { (host: TestHost, device: inout TestDevice) async throws in
        // After a restart it is another device.
        try await device.pair()
        return try await body(host, device)
    }
}

extension TestDevice {
    func changes(_ chat: String, _ query: String = "") async throws -> ChatChangesResponse {
        let reply = try await get("/companion/chats/\(chat)/changes\(query)")
        guard reply.status == 200 else { throw TestFailure("\(reply.status): \(reply.body)") }
        return try reply.decoded(ChatChangesResponse.self)
    }

    /// Sends a prompt to a chat and waits for its answer.
    ///
    /// - Returns: The last frame.
    @discardableResult
    func ask(_ prompt: String, _ chat: String) async throws -> TurnEvent? {
        let sent = try await execute(.chatSend(chatID: chat, prompt: prompt, model: "command", allowedTools: nil))
        guard let turn = sent.result["turnId"]?.string else { throw TestFailure("the host began no turn") }
        return try await events(chat: chat, turn: turn).frames.last
    }
}
