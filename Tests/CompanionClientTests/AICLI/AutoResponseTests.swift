import CompanionClient
import Testing

@Suite struct AutoResponseTests {
    private func auto(_ mode: AutoResponse.Mode, messages: Int = 10, minutes: Int = 30) -> AutoResponse {
        AutoResponse(mode: mode, limits: .init(messages: messages, time: .seconds(minutes * 60)))
    }

    private func after(_ auto: inout AutoResponse, _ answer: String, _ elapsed: Duration) -> AutoResponse.Step {
        auto.answered(answer, elapsed: elapsed)
    }

    @Test(
        "The agent's word that it is done ends the modes that look for it, and no other",
        arguments: AutoResponse.Mode.allCases
    )
    func completion(_ mode: AutoResponse.Mode) {
        var auto = auto(mode)
        let step = auto.answered("Fixed the login.\n\n**TASK COMPLETE**", elapsed: .seconds(5))
        let goesOn = [.timed, .messageCount].contains(mode)
        #expect(step == (goesOn ? .send(AutoResponse.prompt) : .stop(.completed)))
    }

    @Test(
        "A question stops smart stop and hybrid; the others leave it to the agent",
        arguments: AutoResponse.Mode.allCases
    )
    func question(_ mode: AutoResponse.Mode) {
        var auto = auto(mode)
        let step = auto.answered("There are two ways.\n\nWhich one do you prefer?", elapsed: .zero)
        let stops = [.smartStop, .hybrid].contains(mode)
        #expect(step == (stops ? .stop(.question) : .send(AutoResponse.judgement)))
    }

    @Test("No mode goes beyond the number of messages", arguments: AutoResponse.Mode.allCases)
    func messageLimit(_ mode: AutoResponse.Mode) {
        var auto = auto(mode, messages: 3)
        for number in 0..<3 {
            #expect(after(&auto, "Part \(number) is there.", .zero) == .send(AutoResponse.prompt))
        }
        #expect(after(&auto, "Part 3 is there.", .zero) == .stop(.messages(3)))
        #expect(auto.sent == 3)
    }

    @Test("No mode goes beyond its time", arguments: AutoResponse.Mode.allCases)
    func timeLimit(_ mode: AutoResponse.Mode) {
        var auto = auto(mode, minutes: 1)
        #expect(after(&auto, "Part 1.", .seconds(59)) == .send(AutoResponse.prompt))
        #expect(after(&auto, "Part 2.", .seconds(60)) == .stop(.time(.seconds(60))))
    }

    @Test("Whoever stops it gets the answer that runs, and no further message", arguments: AutoResponse.Mode.allCases)
    func stopKey(_ mode: AutoResponse.Mode) {
        var auto = auto(mode)
        auto.stop()
        #expect(after(&auto, "Part 1.", .zero) == .stop(.stopped))
        #expect(auto.sent == 0)
        auto.begin()
        #expect(after(&auto, "Part 1.", .zero) == .send(AutoResponse.prompt))
    }

    @Test("An agent that repeats itself, or says nothing, ends it", arguments: AutoResponse.Mode.allCases)
    func repetition(_ mode: AutoResponse.Mode) {
        var empty = auto(mode)
        #expect(after(&empty, " \n", .zero) == .stop(.empty))
        var auto = auto(mode)
        var steps = [auto.answered("The same.", elapsed: .zero)]
        while case .send = steps.last, steps.count < 10 { steps.append(auto.answered("The same.", elapsed: .zero)) }
        #expect(steps.last == .stop(.repeated))
        #expect(steps.count == ([.timed, .messageCount].contains(mode) ? 3 : 2))
    }

    @Test(
        "Answers that are not the end are not taken for it",
        arguments: [
            "The task is not complete yet.", "Step 1 of 3 completed successfully. Remaining: tests.",
            "I've finished the parser.\nNext, I will write the tests.", "All done?\nShall I delete the branch?",
            "The prompt said “write TASK COMPLETE on a line of its own”, so I will do so later.",
        ]
    )
    func notComplete(_ answer: String) {
        #expect(!AnswerSigns(answer).isComplete)
    }

    @Test(
        "Other words for the end are understood",
        arguments: ["All done.", "I've completed the refactoring.", "task complete", "Everything is done!"]
    )
    func complete(_ answer: String) {
        let signs = AnswerSigns(answer)
        #expect(signs.isComplete && !signs.asks)
    }

    @Test("Only how an answer ends says what comes next")
    func ending() {
        let signs = AnswerSigns(
            "Why was it slow? Because of the index.\n" + String(repeating: "It is fast now.\n", count: 10)
        )
        #expect(!signs.asks)
        #expect(AnswerSigns("Is this **right?**").asks)
        #expect(AnswerSigns("Would you like me to push it.").asks)
    }
}
