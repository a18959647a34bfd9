import CompanionTestSupport
import CompanionWire
import Providers
import Testing

@testable import CompanionHost

@Suite("What a model is asked fits into its context", .timeLimit(.minutes(15)))
struct ModelConversationTests {
    private static func said(_ texts: String...) -> [ModelMessage] {
        texts.enumerated().map { ModelMessage(isFromUser: $0.offset.isMultiple(of: 2), text: $0.element) }
    }

    private static func conversation(_ messages: [ModelMessage], _ prompt: String = "Now?", context: Int = 1024)
        -> ModelConversation
    {
        ModelConversation(
            model: "small",
            system: "Be brief.",
            messages: messages,
            prompt: prompt,
            tools: [],
            context: context
        )
    }

    @Test("The prompt that the chat has already is not said twice")
    func promptOnce() throws {
        let messages = try Self.conversation(Self.said("One", "Two", "Now?")).request().messages
        #expect(messages.map(\.text) == ["One", "Two", "Now?"])
        let twice = try Self.conversation(Self.said("Now?", "Two", "Now?")).request().messages
        #expect(twice.map(\.text) == ["Now?", "Two", "Now?"])
    }

    @Test("Messages come turn by turn, the user's first")
    func turns() throws {
        let messages = [
            ModelMessage(isFromUser: false, text: "Hello"), ModelMessage(isFromUser: true, text: "One"),
            ModelMessage(isFromUser: true, text: "Two"),
        ]
        #expect(try Self.conversation(messages).request().messages.map(\.text) == ["One\n\nTwo\n\nNow?"])
    }

    @Test("The newest messages are kept, whole ones, and none behind a gap")
    func budget() throws {
        // 768 of 1024 tokens are for what is asked; four bytes are one token.
        let long = String(repeating: "x", count: 4 * 400)
        let messages = try Self.conversation(Self.said("First", long, "Middle", long, "Last", "Yes")).request().messages
        #expect(messages.map(\.text) == ["Middle", long, "Last", "Yes", "Now?"])
        var halved = Self.conversation(Self.said("First", long, "Middle", long, "Last", "Yes"))
        halved.halve()
        #expect(try halved.request().messages.map(\.text) == ["Last", "Yes", "Now?"])
    }

    @Test("Results of tools make room for newer ones, and a prompt that is too long is said to be")
    func results() throws {
        var conversation = Self.conversation(Self.said("Earlier", "Yes"))
        for number in 1...3 {
            let result = "\(number)" + String(repeating: "y", count: 4 * 250)
            conversation.add("", calls: [.init(id: "c\(number)", name: "search", arguments: "{}")], results: [result])
        }
        let texts = try conversation.request().messages.filter { $0.resultOf != nil }.map { $0.text.prefix(9) }
        #expect(texts == ["[left out", "2yyyyyyyy", "3yyyyyyyy"])
        let prompt = String(repeating: "z", count: 4 * 800)
        #expect(throws: AgentError.self) { try Self.conversation([], prompt).request() }
    }

    private static let overflowBody =
        #"{"error":{"message":"This model's maximum context length is 600 tokens.","code":"context_length_exceeded"}}"#

    @Test(
        "A model that takes less is asked once more with half of it",
        arguments: [
            FakeProviderReply.status(400, headers: [], body: overflowBody), .stream(Chunk.event(overflowBody)),
            .status(413, headers: [], body: "{}"),
        ]
    )
    func overflow(reply: FakeProviderReply) async throws {
        try await ModelBench.with(context: 4096) { bench in
            bench.fake.reply(reply, .answer(["Yes."]))
            let long = String(repeating: "x", count: 4 * 1200)
            let outcome = try await bench.ask(after: Self.said("First", "One", long, "Two"))
            #expect(outcome.text == "Yes.")
            #expect(outcome.statuses == ["The model takes fewer than 4096 tokens: older messages are left out"])
            #expect(bench.asked.map { $0.messages.contains("assistant: One") } == [true, false])
        }
    }

    @Test("A second overflow is an error that says what to do")
    func overflowTwice() async throws {
        try await ModelBench.with { bench in
            let reply = FakeProviderReply.status(400, headers: [], body: Self.overflowBody)
            bench.fake.reply(reply, reply)
            let outcome = try await bench.ask()
            #expect(
                outcome.error?.message
                    == "The conversation is too long for small (it says: This model's maximum context "
                    + "length is 600 tokens). Start a new chat, or have the host started with the --context that the "
                    + "model has"
            )
            #expect(bench.asked.count == 2)
        }
    }
}
