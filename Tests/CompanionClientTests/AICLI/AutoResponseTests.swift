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
        "A question stops smart stop, a second one in a row hybrid; the others leave all to the agent",
        arguments: [
            (AutoResponse.Mode.smartStop, 0), (.hybrid, 1), (.untilCompletion, 9), (.timed, 9), (.messageCount, 9),
        ]
    )
    func question(_ mode: AutoResponse.Mode, _ left: Int) {
        var auto = auto(mode)
        for number in 0..<left {
            #expect(after(&auto, "There are two ways.\n\nWhich, \(number)?", .zero) == .send(AutoResponse.judgement))
        }
        if left < 9 { #expect(after(&auto, "Which one do you prefer?", .zero) == .stop(.question)) }
    }

    @Test("Hybrid counts questions in a row only, and anew after each prompt")
    func questionsApart() {
        var auto = auto(.hybrid)
        for _ in 0..<3 {
            #expect(after(&auto, "Which one?", .zero) == .send(AutoResponse.judgement))
            #expect(after(&auto, "The first one, then.", .zero) == .send(AutoResponse.prompt))
        }
        #expect(after(&auto, "Which one?", .zero) == .send(AutoResponse.judgement))
        auto.begin()
        #expect(after(&auto, "Which one?", .zero) == .send(AutoResponse.judgement))
    }

    /// What an agent may say, and when.
    private struct Course {
        var step: Duration
        var answers: [String]
    }

    private static let courses = [
        Course(step: .seconds(1), answers: ["Half.", "All done."]),
        Course(step: .seconds(1), answers: ["Which one?", "Half."]),
        Course(step: .seconds(1), answers: ["Which one?", "And where?", "Half."]),
        Course(step: .seconds(1), answers: (0..<12).map { "Part \($0)." }),
        Course(step: .seconds(600), answers: (0..<5).map { "Part \($0)." }),
    ]

    private func steps(_ mode: AutoResponse.Mode, _ course: Course) -> [AutoResponse.Step] {
        var auto = AutoResponse(mode: mode)
        var steps: [AutoResponse.Step] = []
        for (number, answer) in course.answers.enumerated() {
            steps.append(auto.answered(answer, elapsed: course.step * (number + 1)))
            if case .stop = steps.last { break }
        }
        return steps
    }

    @Test("No two modes are the same: some course of a chat goes on differently", arguments: AutoResponse.Mode.allCases)
    func modesDiffer(_ mode: AutoResponse.Mode) {
        for other in AutoResponse.Mode.allCases where other != mode {
            #expect(Self.courses.contains { steps(mode, $0) != steps(other, $0) }, "\(mode) and \(other)")
        }
    }

    @Test(
        "Each mode has limits of its own, which what the user says replaces",
        arguments: [
            (AutoResponse.Mode.smartStop, 10, 30), (.untilCompletion, 10, 30), (.timed, 100, 30),
            (.messageCount, 10, 1440),
            (.hybrid, 10, 30),
        ]
    )
    func limits(_ mode: AutoResponse.Mode, _ messages: Int, _ minutes: Int) {
        var counted = AutoResponse(mode: mode)
        for number in 0..<messages {
            #expect(after(&counted, "Part \(number).", .zero) == .send(AutoResponse.prompt))
        }
        #expect(after(&counted, "The last part.", .zero) == .stop(.messages(messages)))
        let time = Duration.seconds(minutes * 60)
        var timed = AutoResponse(mode: mode)
        #expect(after(&timed, "Part 1.", time - .seconds(1)) == .send(AutoResponse.prompt))
        #expect(after(&timed, "Part 2.", time) == .stop(.time(time)))
        let given = auto(mode, messages: 7, minutes: 8)
        #expect(given.mostMessages == 7 && given.mostTime == .seconds(8 * 60))
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
