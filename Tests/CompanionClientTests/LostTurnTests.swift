import CompanionTestSupport
import CompanionWire
import FoundationEssentials
import Testing

@testable import CompanionClient

/// Turns whose host was restarted, or which the host has ended itself.
@Suite struct LostTurnTests {
    struct Outcome {
        var text = ""
        var error: CompanionClientError?
        var slept = Duration.zero
    }

    /// Runs a turn that breaks after its first words; `meanwhile` happens before it does.
    private func run(
        _ script: FakeMacScript,
        meanwhile: (FakeMac) -> Void = { _ in },
        check: (FakeMac) -> Void = { _ in }
    ) async throws -> Outcome {
        try await withPeers(script) { mac, client async throws in
            let clock = ImmediateClock()
            let start = clock.now
            var outcome = Outcome()
            let turn = ChatTurn(client: client, chatID: "c-login", request: .prompt("Hi"), clock: clock)
            do {
                for try await output in turn.run() {
                    guard case .text(let text) = output else { continue }
                    outcome.text += text
                    meanwhile(mac)
                    mac.release("shown")
                }
            } catch let error as CompanionClientError {
                outcome.error = error
            }
            outcome.slept = start.duration(to: clock.now)
            check(mac)
            return outcome
        }
    }

    private func breaking(_ answer: String? = nil, atRead reads: Int? = nil) -> FakeMacTurn {
        var turn = FakeMacTurn(
            steps: [.frame(FakeMacTurn.text("half")), .hold("shown"), .reset],
            answer: answer
        )
        turn.storedAtRead = reads
        return turn
    }

    @Test("A turn whose host was restarted ends at once, signed out as it is then or not", arguments: [true, false])
    func restarted(signsIn: Bool) async throws {
        let outcome = try await run(.turn(breaking())) { mac in
            mac.restart()
            if signsIn { mac.change { $0.isSignedIn = true } }
        } check: { mac in
            #expect(mac.prompts == 1)
        }
        #expect(outcome.error?.code == .streamInterrupted)
        #expect(outcome.error?.message.contains("restarted") == true, "\(outcome.error?.message ?? "")")
        #expect(outcome.slept < .seconds(1), "\(outcome.slept)")
        #expect(outcome.text == "half")
    }

    @Test("An answer that was stored before the restart is shown")
    func stored() async throws {
        let outcome = try await run(.turn(breaking())) { mac in
            mac.change { script in
                script.processStartedAt = Date()
                let answer = CompanionMessage(id: "a", role: .assistant, text: "half, whole", createdAt: nil)
                script.messages["c-login", default: []].append(answer)
            }
        }
        #expect(outcome.error == nil)
        #expect(outcome.text == "half, whole")
    }

    @Test("A Mac ends a turn after two minutes, and nobody waits longer for it")
    func limit() async throws {
        let outcome = try await run(.turn(breaking("half, late", atRead: 180)))
        #expect(outcome.error?.code == .streamInterrupted)
        #expect(outcome.error?.message.contains("two minutes") == true, "\(outcome.error?.message ?? "")")
        #expect(outcome.slept > .seconds(120) && outcome.slept < .seconds(140), "\(outcome.slept)")
    }

    @Test("The two minutes are those of the turn, not of the break")
    func age() {
        var turn = TurnRecovery(prompt: "p", configuration: .init(turnLimit: .seconds(135)))
        _ = turn.handle(.failed(CompanionClientError(.streamInterrupted, message: "broke"), age: .seconds(100)))
        let own = [CompanionMessage(id: "1", role: .user, text: "p", createdAt: nil)]
        guard case .poll = turn.handle(.history(own, elapsed: .seconds(34))).next else {
            Issue.record("it is given up too early")
            return
        }
        guard case .fail(let error) = turn.handle(.history(own, elapsed: .seconds(35))).next else {
            Issue.record("it is not given up")
            return
        }
        #expect(error.code == .streamInterrupted)
    }
}
