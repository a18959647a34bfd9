import CompanionTestSupport
import CompanionWire
import FoundationEssentials
import GRDB
import HTTPTypes
import Identity
import NIOConcurrencyHelpers
import Testing

@testable import CompanionHost

@Suite("A turn that cannot be stored", .timeLimit(.minutes(15)))
struct TurnFaultTests {
    /// Makes the database refuse frames with a text.
    private static let frameFault = """
        CREATE TRIGGER fault BEFORE INSERT ON turnEvent WHEN instr(NEW.frame, CAST('poison' AS BLOB)) > 0
        BEGIN SELECT RAISE(ABORT, 'fault'); END
        """

    @Test("Its fault is its own: the turns of the same transaction are stored, and its readers hear of it")
    func otherTurns() async throws {
        try await HostParts.with { parts in
            let log = parts.services.turns.log
            let device = try parts.deviceID
            try await parts.services.database.write { try $0.execute(sql: Self.frameFault) }
            func feed(_ id: String) -> TurnFeed { TurnFeed(id: id, chatID: "c") }
            let (good, bad, late) = (feed("good"), feed("bad"), feed("late"))
            log.open(late, device: device)
            log.publish(.text("before"), in: late)
            await log.drain()
            let gate = parts.services.database.holdWriter()
            for feed in [bad, good] { log.open(feed, device: device) }
            for feed in [bad, late, good] { log.publish(.text("one"), in: feed) }
            for feed in [bad, late] { log.publish(.text("poison"), in: feed) }
            log.publish(.text("two"), in: good)
            log.end(good, with: .done(files: nil), as: .finished)
            gate.open()
            await log.drain()
            // What comes behind the fault has no turn to belong to.
            for feed in [bad, late] { log.publish(.text("three"), in: feed) }
            log.end(bad, with: .done(files: nil), as: .finished)
            await log.drain()
            let stored = try await log.all("good")
            #expect(stored.text.contains("one") && stored.text.contains("two") && stored.state == .finished)
            #expect(bad.hasFailed && late.hasFailed && !good.hasFailed)
            #expect(try await log.turn(id: "bad") == nil)
            let ended = try await log.all("late")
            #expect(ended.text.contains("before") && !ended.text.contains("one") && !ended.text.contains("three"))
            #expect(ended.text.contains(TurnEventLog.notStoredText) && ended.state == .failed)
        }
    }

    @Test("A mode is announced once it is stored, and never if it cannot be")
    func modes() async throws {
        try await HostParts.with { parts in
            let log = parts.services.turns.log
            let device = try parts.deviceID
            try await parts.services.database.write { try $0.execute(sql: Self.frameFault) }
            let modes = try ["good", "poison"].map { try #require(AgentMode($0)) }
            let announced = NIOLockedValueBox<[String]>([])
            let gate = parts.services.database.holdWriter()
            for mode in modes {
                let feed = TurnFeed(id: mode.name, chatID: "c")
                log.open(feed, device: device)
                log.publish(.mode(mode), in: feed) { announced.withLockedValue { $0.append(mode.name) } }
            }
            let early = announced.withLockedValue { $0 }
            gate.open()
            await log.drain()
            #expect(early.isEmpty)
            #expect(announced.withLockedValue { $0 } == ["good"])
        }
    }

    @Test("Its agent is not asked, or ended, and its place is free again")
    func jobs() async throws {
        let (ends, end) = AsyncStream.makeStream(of: String.self)
        let agent = TestAgent { turn, emit in
            guard turn.prompt != "go" else { return }
            defer { end.yield(turn.prompt) }
            emit(.text(turn.prompt))
            let (never, source) = AsyncStream.makeStream(of: Void.self)
            defer { source.finish() }
            for await _ in never {}
        }
        try await HostParts.with(agent: agent) { parts in
            try await parts.services.database.write { try $0.execute(sql: Self.frameFault) }
            let chat = try await parts.newChat()
            try await parts.services.database.write {
                try $0.execute(
                    sql: """
                        CREATE TRIGGER closed BEFORE INSERT ON turn WHEN NEW.chat = 'closed'
                        BEGIN SELECT RAISE(ABORT, 'fault'); END
                        """
                )
            }
            let turn = AgentTurn(chatID: "closed", prompt: "never", directory: parts.project.path, allowedTools: nil)
            await #expect(throws: CompanionHostError.self) {
                try await parts.services.turns.submit(
                    turn,
                    project: parts.project,
                    model: "test",
                    device: parts.deviceID
                )
            }
            _ = try await parts.send("poison", to: chat)
            #expect(await ends.first { _ in true } == "poison")
            let next = try await parts.send("go", to: chat)
            #expect(try await parts.services.turns.log.all(next).state == .finished)
            #expect(agent.prompts.withLockedValue { $0 } == ["poison", "go"])
        }
    }
}

@Suite("Commands at the worst moment", .timeLimit(.minutes(15)))
struct CommandMomentTests {
    @Test("A prompt whose request is cancelled behind its admission runs once: its repetition is the same turn")
    func cancelledRequest() async throws {
        let database = NIOLockedValueBox<HostDatabase?>(nil)
        let gate = ThreadGate()
        // Within the transaction of the command: what is written next has to wait.
        let agent = TestAgent(asked: { database.withLockedValue { _ = $0?.holdWriter(gate) } })
        try await HostParts.with(agent: agent) { parts in
            let chat = try await parts.newChat()
            let command = try parts.sign(
                .chatSend(chatID: chat, prompt: "once", model: nil, allowedTools: nil)
            )
            database.withLockedValue { $0 = parts.services.database }
            let over = Gates()
            await withTaskGroup(of: Void.self) { group in
                group.addTask {
                    await #expect(throws: CancellationError.self) { try await parts.execute(command) }
                    over.open("over")
                }
                group.cancelAll()
                await #expect(throws: Never.self) { try await over.pass("over") }
                database.withLockedValue { $0 = nil }
                gate.open()
            }
            let again = try await parts.execute(command)
            let turn = try #require(again.result["turnId"]?.string)
            #expect(again.replayed)
            #expect(try await parts.services.turns.log.all(turn).state == .finished)
            #expect(agent.prompts.withLockedValue { $0 } == ["once"])
        }
    }

    @Test("Of two cancellations with one nonce only one ends its turn")
    func nonceOfCancellation() async throws {
        let agent = TestAgent { _, _ in
            let (never, source) = AsyncStream.makeStream(of: Void.self)
            defer { source.finish() }
            for await _ in never {}
        }
        try await HostParts.with(agent: agent) { parts in
            let nonce = SecureRandom.bytes(16)
            var commands: [SignedCommand] = []
            var turns: [String] = []
            for _ in 0..<2 {
                let chat = try await parts.newChat()
                let turn = try await parts.send("go", to: chat)
                turns.append(turn)
                commands.append(try parts.sign(.chatCancel(chatID: chat, turnID: turn), nonce: nonce))
            }
            let gate = parts.services.database.holdWriter()
            let codes = try await withThrowingTaskGroup(of: CompanionErrorCode?.self) { group in
                for command in commands {
                    group.addTask {
                        do {
                            _ = try await parts.execute(command)
                            return nil
                        } catch let error as HostError {
                            return error.code
                        }
                    }
                }
                gate.open()
                return try await group.reduce(into: [CompanionErrorCode?]()) { $0.append($1) }
            }
            #expect(codes.contains(nil) && codes.contains(.commandReplayed))
            var cancelled = 0
            for turn in turns where try await parts.services.turns.log.turn(id: turn)?.state == .cancelled {
                cancelled += 1
            }
            #expect(cancelled == 1)
        }
    }

    @Test("A cancellation that was noted and cut off is done by its repetition; one of no turn may be repeated")
    func cutOffCancellation() async throws {
        let agent = TestAgent { _, _ in
            let (never, source) = AsyncStream.makeStream(of: Void.self)
            defer { source.finish() }
            for await _ in never {}
        }
        try await HostParts.with(agent: agent) { parts in
            let chat = try await parts.newChat()
            let turn = try await parts.send("go", to: chat)
            let command = try parts.sign(.chatCancel(chatID: chat, turnID: turn))
            let digest = Digest.sha256(command.signedBytes)
            try await parts.services.database.write { database in
                _ = try SeenNonce.note(command.nonce, of: command.deviceId, until: command.expiresAt, in: database)
                try CommandLedger.remember(
                    command,
                    digest: digest,
                    result: CommandLedger.pending,
                    in: database
                )
            }
            let first = try await parts.execute(command)
            let second = try await parts.execute(command)
            #expect(first.result["state"]?.string == "cancelled" && !first.replayed)
            #expect(second.result == first.result && second.replayed)
            let missing = try parts.sign(.chatCancel(chatID: chat, turnID: "none"))
            for _ in 0..<2 {
                let error = await #expect(throws: HostError.self) { try await parts.execute(missing) }
                #expect(error?.code == .turnUnknown)
            }
        }
    }

    @Test("A project whose directory takes its time holds up no other command")
    func slowDirectory() async throws {
        let (opens, open) = AsyncStream.makeStream(of: Void.self)
        let (entries, enter) = AsyncStream.makeStream(of: Void.self)
        try await HostParts.with { name, _ in
            enter.finish()
            for await _ in opens {}
            return ProjectMaker.NewProject(project: ProjectCatalog.Project(madeAt: "/slow", name: name))
        } _: { parts in
            let command = try parts.sign(.projectCreate(name: "slow", localPath: nil))
            try await withThrowingTaskGroup(of: CommandResponse.self) { group in
                group.addTask { try await parts.execute(command) }
                for await _ in entries {}
                _ = try await parts.newChat()
                open.finish()
                let made = try #require(try await group.next())
                #expect(made.result["localPath"]?.string == "/slow")
            }
            #expect(try await parts.execute(command).replayed)
        }
    }

    @Test("A device that opens sessions without end is slowed down, and leaves nothing behind")
    func sessionLoop() async throws {
        let clock = TestClock()
        try await HostParts.with(clock: clock.hostClock) { parts in
            func open(_ keys: SecureKeyStore) async throws {
                let request = try SessionRequest.make(audience: parts.services.identity.id, key: keys, now: clock.now)
                _ = try await parts.services.gate.open(request.body, address: "127.0.0.1")
            }
            func openUntilRefused() async throws -> Int {
                for count in 0..<100 {
                    do {
                        try await open(parts.keys)
                    } catch let error as HostError {
                        #expect(
                            HostResponseError(error).status.code == 429 && error.code == .sessionRateLimited
                                && error.retryable
                        )
                        return count
                    }
                }
                return 100
            }
            let first = try await openUntilRefused()
            #expect(first == DeviceGate.burst)
            let other = SecureKeyStore(directory: parts.directory + "/other")
            try await parts.enroll(other)
            try await open(other)
            clock.advance(by: DeviceGate.interval)
            let second = try await openUntilRefused()
            #expect(second == 1)
            clock.advance(by: DeviceGate.maximumAge + 61)
            try await open(parts.keys)
            let nonces = try await parts.services.database.read {
                try Int.fetchOne($0, sql: "SELECT count(*) FROM seenNonce")
            }
            #expect(nonces == 1)
        }
    }
}
