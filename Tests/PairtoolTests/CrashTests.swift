import CompanionClient
import CompanionWire
import FoundationEssentials
import Identity
import NIOConcurrencyHelpers
import Subprocess
import SystemPackage
import Terminal
import Testing

@testable import CompanionApp
@testable import pairtool

/// A host that is killed at any moment (SIGKILL) has the state of before or after what it was doing, and nothing
/// between.
///
/// The moments are random, from the first byte to well after the last: over the runs they fall into every step.
@Suite struct CrashTests {
    /// So many kills of a pairing, and of each kind of command; more, up to five times as many, until one came before the
    /// end and one after it.
    private static let runs = (pairing: 8, command: 6)

    /// Runs a host of the project that dies by SIGKILL when `body` returns.
    func withDoomedHost<R: Sendable>(
        _ host: Sandbox,
        _ more: [String] = [],
        _ body: @escaping @Sendable (HostEvents, _ kill: @escaping @Sendable () throws -> Void) async throws -> R
    ) async throws -> R {
        try await PairtoolTests.withDoomedHost(host, ["--project", host.directory + "/garden"] + more, body)
    }

    /// Kills at a random moment while something is done.
    private func during<R: Sendable>(
        _ longest: Duration,
        kill: @escaping @Sendable () throws -> Void,
        _ work: () async throws -> R
    ) async throws -> R {
        let moment = longest * Double.random(in: 0...1)
        return try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                try await ContinuousClock().sleep(for: moment)
                try kill()
            }
            let result = try await work()
            try await group.waitForAll()
            return result
        }
    }

    func pair(_ user: Sandbox, _ events: HostEvents) async throws -> Sandbox.Result {
        let code = try await events.payload.code
        let port = try await events.ports.secure
        return try await user.spawn(
            ["pair", "--url", "https://127.0.0.1:\(port)", "--code-stdin", "--json"],
            stdin: code + "\n"
        )
    }

    /// What the host's owner sees after a restart.
    private func devices(_ host: Sandbox) async throws -> [[String: ShownJSON]] {
        let listed = try await host.spawn(["host", "devices", "--json"])
        #expect(listed.status == 0, "\(listed.err)")
        let audit = try await host.spawn(["host", "audit", "--verify", "--json"])
        #expect(audit.status == 0, "\(audit)")
        return try listed.json
    }

    /// The paired host of a user at the port that it has now.
    func withClient<R>(
        _ user: Sandbox,
        _ events: HostEvents,
        credentials: (PairedCredentials) throws -> any DeviceCredentials = { $0 },
        _ body: (CompanionAPIClient) async throws -> R
    ) async throws -> R {
        let store = PairedHostStore(directory: user.directory + "/data/pairtool")
        let record = try #require(try store.load().hosts.first)
        let endpoint = try await CompanionEndpoint(address: record.endpoint.address, port: events.ports.secure)
        var context = TerminalContext.process
        context.environment = user.environment
        let environment = Output(context: context, format: .text).environment()
        return try await CompanionAPIClient.withClient(
            endpoint: endpoint,
            security: record.security(),
            credentials: credentials(PairedCredentials(host: record, environment: environment)),
            // The killed host does not come back at its port.
            configuration: CompanionClientConfiguration(retries: .init(count: 0)),
            body
        )
    }

    @Test("Killed while a device pairs, the host knows it afterwards or does not", .timeLimit(.minutes(15)))
    func pairing() async throws {
        try await withProject { host, first in
            let (paired, longest) = try await withDoomedHost(host) { events, _ in
                _ = try await (events.payload, events.ports)
                let started = ContinuousClock.now
                return (try await pair(first, events), started.duration(to: .now))
            }
            #expect(paired.status == 0, "\(paired)")
            var outcomes: Set<String> = []
            let both: Set = ["true true", "false false"]
            // On a machine that gets busier, later moments are needed for some to come after the end.
            var reach = longest
            for run in 0..<5 * Self.runs.pairing where run < Self.runs.pairing || !outcomes.isSuperset(of: both) {
                try await Sandbox.with { user in
                    let latest = reach
                    let result = try await withDoomedHost(host) { events, kill in
                        _ = try await (events.payload, events.ports)
                        return try await during(latest, kill: kill) { try await pair(user, events) }
                    }
                    reach = result.status == 0 ? longest : min(latest * 1.2, longest * 10)
                    let directory = user.directory + "/data/pairtool"
                    let id = try SecureKeyStore(directory: directory).load()?.deviceID
                    let isKnown = try await withDoomedHost(host) { events, _ in
                        _ = try await events.ports
                        let known = try await devices(host).first { $0["id"]?.string == id }
                        if result.status == 0 {
                            // What a device was told is kept: it comes in, and its session is the one that it got.
                            #expect(known != nil, "\(result)")
                            let projects = try await withClient(user, events) { try await $0.projects() }
                            #expect(projects.count == 1)
                        }
                        if let known {
                            #expect(known["permissions"] == .list(CompanionPermission.all.map { .text($0.rawValue) }))
                        }
                        return known != nil
                    }
                    outcomes.insert("\(result.status == 0) \(isKnown)")
                }
            }
            #expect(outcomes.isSuperset(of: both), "moments before and after: \(outcomes)")
        }
    }

    // MARK: Commands

    /// Kills the host again and again while it executes a command, and sends the same bytes to the next one.
    ///
    /// - Parameters:
    ///   - more: Arguments for the host.
    ///   - prepare: What a run's command is; by a client that may send others before.
    ///   - check: What has become of it at the host after the same bytes came twice.
    private func kill(
        _ host: Sandbox,
        _ user: Sandbox,
        _ more: [String] = [],
        prepare: @escaping @Sendable (CompanionAPIClient, _ run: Int) async throws -> CommandPayload,
        check: @escaping @Sendable (CompanionAPIClient, CommandPayload, CommandResponse) async throws -> Void
    ) async throws {
        let paired = try await withDoomedHost(host) { events, _ in try await pair(user, events) }
        #expect(paired.status == 0, "\(paired)")
        var outcomes: Set<Bool> = []
        // A command takes some milliseconds. The moments follow it, so that some come before its end and some after.
        var reach = Duration.milliseconds(40)
        for run in 0..<5 * Self.runs.command where run < Self.runs.command || outcomes.count < 2 {
            let prepared = Prepared()
            let latest = reach
            let (payload, answered) = try await withDoomedHost(host, more) { events, kill in
                let payload = try await withClient(user, events) { try await prepare($0, run) }
                let answered = try await withClient(user, events, credentials: { prepared.over($0) }) { client in
                    _ = try await client.projects()
                    return try await during(latest, kill: kill) { try? await client.execute(payload) }
                }
                return (payload, answered)
            }
            reach = answered == nil ? min(latest * 1.5, .milliseconds(500)) : max(latest * 0.6, .milliseconds(2))
            // The same bytes once more: they are what was executed, or are executed now.
            try await withDoomedHost(host, more) { events, _ in
                let again = try await withClient(user, events, credentials: { prepared.over($0) }) { client in
                    try await client.execute(payload)
                }
                if let answered {
                    #expect(again.replayed)
                    #expect(again.result == answered.result)
                }
                try await withClient(user, events) { try await check($0, payload, again) }
            }
            outcomes.insert(answered != nil)
        }
        #expect(outcomes == [true, false], "moments before and after")
    }

    @Test("Killed while it makes a chat, the host has made it once or not at all", .timeLimit(.minutes(15)))
    func chatCreate() async throws {
        try await withProject { host, user in
            try await kill(host, user) { client, run in
                let project = try #require(try await client.projects().first)
                return .chatCreate(projectID: project.id, title: "run \(run)")
            } check: { client, payload, _ in
                guard case .chatCreate(let project, let title, _) = payload else { throw CancellationError() }
                let chats = try await client.chats(projectID: project).map(\.title)
                #expect(chats.filter { $0 == title }.count == 1 && Set(chats).count == chats.count, "\(chats)")
            }
        }
    }

    @Test("Killed while it makes a project, the host has one directory for it and no other", .timeLimit(.minutes(15)))
    func projectCreate() async throws {
        try await withProject { host, user in
            try await kill(host, user) { _, run in
                .projectCreate(name: "run \(run)", localPath: nil)
            } check: { client, payload, response in
                guard case .projectCreate(let name, _) = payload else { throw CancellationError() }
                let path = try response.result.decode(CompanionProject.self).localPath
                #expect(path.hasSuffix("/" + name))
                let projects = try await client.projects().map(\.name)
                #expect(projects.filter { $0 == name }.count == 1, "\(projects)")
                let parent = String(path.dropLast(name.count + 1))
                let directories = try FileManager.default.contentsOfDirectory(atPath: parent)
                #expect(Set(directories) == Set(projects.filter { $0 != "garden" }))
            }
        }
    }

    /// The turns and prompts of a chat as the host's database has them.
    private func stored(_ host: Sandbox, _ chat: String) async throws -> (turns: Int, prompts: Int) {
        let counted = try await host.shell(
            """
            python3 -c 'import sqlite3, sys
            database = sqlite3.connect("file:" + sys.argv[1] + "?mode=ro", uri=True, timeout=30)
            for text in [
                "SELECT count(*) FROM turn WHERE chat = ?",
                "SELECT count(*) FROM message JOIN chat ON chat.key = message.chat WHERE chat.id = ? AND role = ?",
            ]: print(database.execute(text, sys.argv[2:2 + text.count("?")]).fetchone()[0])
            ' data/pairtool/host/host.sqlite '\(chat)' user
            """
        )
        let numbers = counted.out.split(separator: "\n").compactMap { Int($0) }
        try #require(numbers.count == 2, "\(counted)")
        return (numbers[0], numbers[1])
    }

    /// How a turn ends, as its stream tells.
    private static func end(_ client: CompanionAPIClient, _ chat: String, _ turn: String) async throws -> String {
        do {
            for try await _ in try FollowedTurn(client: client, chatID: chat, turnID: turn) {}
            return "finished"
        } catch let error as CompanionClientError where error.code == .hostError {
            return error.hostText ?? ""
        }
    }

    @Test("Killed while it takes a prompt, the host has one turn for it and one prompt", .timeLimit(.minutes(15)))
    func chatSend() async throws {
        try await withProject { host, user in
            try await kill(host, user) { client, run in
                let project = try #require(try await client.projects().first)
                let chat = try await client.createChat(projectID: project.id, title: "run \(run)")
                return .chatSend(chatID: chat.id, prompt: "help", model: nil, allowedTools: nil)
            } check: { client, payload, response in
                guard case .chatSend(let chat, _, _, _, _, _) = payload else { throw CancellationError() }
                let turn = try #require(response.result["turnId"]?.string)
                let end = try await Self.end(client, chat, turn)
                let stored = try await stored(host, chat)
                #expect(stored.turns == 1)
                // A turn that the crash has cut off before it began has said nothing, and says that it was interrupted.
                #expect(stored.prompts == 1 || stored.prompts == 0 && end.contains("interrupted"), "\(end)")
                let messages = try await client.lastMessages(chatID: chat, count: 10)
                #expect(messages.count { $0.role == .user } == stored.prompts)
                #expect(end != "finished" || messages.map(\.role) == [.user, .assistant])
            }
        }
    }

    @Test("Killed while it cancels a turn, the host has ended it, and once", .timeLimit(.minutes(15)))
    func chatCancel() async throws {
        try await withProject { host, user in
            // Agents of a killed host wait there until the pipe is opened, at the end.
            let gate = try await host.pipe("gate")
            try await kill(host, user, ["--agent-command", "/bin/cat \(gate)"]) { client, run in
                let project = try #require(try await client.projects().first)
                let chat = try await client.createChat(projectID: project.id, title: "run \(run)")
                let request = ContinueChatRequest(prompt: "wait", projectPath: nil, model: nil, allowedTools: nil)
                return .chatCancel(
                    chatID: chat.id,
                    turnID: try await client.startTurn(chatID: chat.id, request: request)
                )
            } check: { client, payload, response in
                guard case .chatCancel(let chat, let turn) = payload else { throw CancellationError() }
                // Whichever came first, the command or the crash.
                let state = try #require(response.result["state"]?.string)
                #expect(["cancelled", "interrupted"].contains(state))
                let end = try await Self.end(client, chat, turn)
                #expect(end.contains(state), "\(end)")
                let stored = try await stored(host, chat)
                #expect(stored.turns == 1 && stored.prompts <= 1)
                let messages = try await client.lastMessages(chatID: chat, count: 10)
                #expect(messages.allSatisfy { $0.role == .user })
            }
            let opened = try await host.shell("exec 3<>'\(gate)'")
            #expect(opened.status == 0)
        }
    }
}

/// Signs one command once: every later signature is the same bytes.
private final class Prepared: Sendable {
    private let body = NIOLockedValueBox<[UInt8]?>(nil)

    func over(_ credentials: PairedCredentials) -> any DeviceCredentials {
        Credentials(base: credentials, prepared: self)
    }

    private struct Credentials: DeviceCredentials {
        let base: PairedCredentials
        let prepared: Prepared

        func sessionToken() throws -> String? { try base.sessionToken() }
        func keep(_ grant: SessionGrant) throws { try base.keep(grant) }
        func sessionRequest(now: Date) throws -> [UInt8] { try base.sessionRequest(now: now) }

        func signedCommand(_ payload: CommandPayload, id: UUID, now: Date) throws -> [UInt8] {
            try prepared.body.withLockedValue { body in
                if let body { return body }
                let signed = try base.signedCommand(payload, id: id, now: now)
                body = signed
                return signed
            }
        }
    }
}
