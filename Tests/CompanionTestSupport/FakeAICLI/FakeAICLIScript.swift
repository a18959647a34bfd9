package import FoundationEssentials

/// The content and behaviour of a ``FakeAICLI``. The defaults are a server with WebSocket and a token.
package struct FakeAICLIScript: Sendable {
    /// The generation of the server's program.
    package enum Generation: String, Sendable, CaseIterable {
        /// Late July 2025: a session begins with a `prompt` and gets the server's own id, ends with its connection, and
        /// cannot be continued. Prompts get no reply: messages and the result of the conversation are the answer.
        case july
        /// `aicliCodeAvailable` is a Bool, and projects can be started.
        case wsEarly
        /// `aicliCodeAvailable` is an object, and messages that were kept are delivered at every subscription.
        case ws
        /// Answers go to Apple's push service.
        case http
    }

    package struct Project: Sendable, Hashable {
        package var name: String
        package var path: String

        package init(_ name: String, _ path: String) {
            self.name = name
            self.path = path
        }
    }

    package var generation = Generation.ws
    /// Made anew for each script. Nil: the server wants none.
    package var token: String? = Self.newToken()
    package var projects = [
        Project("web", "/Users/ada/web"), Project("api", "/Users/ada/api"), Project("garden", "/Users/ada/garden"),
    ]
    package var isAssistantAvailable = true
    /// Whether a WebSocket begins with `welcome`.
    package var greets = true
    /// Whether every page looks at the token, or only `/ws` and `/api/sessions/continue`, as real servers do.
    package var guardsEverything = true
    /// Whether there is `/api/sessions/continue`. Sessions are listed all the same.
    package var canContinue = true
    /// Whether a directory has one session, which `streamStart` gives again; else each is a new one.
    package var hasOneSessionPerProject = true
    /// Whether a session can be ended by `streamClose`; else by `DELETE /api/stream/:id`, and `streamClose` has no reply.
    package var closesStreams = true
    /// Whether the agent waits for the answer to a question within its turn, as the documents say. Else, as on real
    /// servers, the turn ends with the question and the answer is the next prompt.
    package var asksWithinTurn = false
    /// The most sessions at a time; the server refuses to begin another.
    package var mostSessions = 10
    /// The sessions that there are: directories by their id.
    package var sessions: [String: String] = [:]
    /// The turns of the next prompts, in order. When there is none left, the server gives the usual answer.
    package var turns: [FakeAICLITurn] = []
    /// Nil: `You said: ` and the prompt.
    package var usualAnswer: String?
    /// How the next WebSockets misbehave, in order. Nil: not at all.
    package var faults: [FakeAICLIFault?] = []
    /// Status and body of requests that are not answered as they should be, by path.
    package var answers: [String: (status: Int, body: String)] = [:]
    /// Paths whose requests are never answered.
    package var silentPaths: Set<String> = []
    /// How long a ping waits for its pong before the connection is broken.
    package var pongLimit = Duration.seconds(10)
    /// The server's clock.
    package var now: @Sendable () -> Date = { Date() }

    package init() {}

    package init(_ generation: Generation) {
        self.generation = generation
    }

    /// Makes a random token of 32 hex digits.
    package static func newToken() -> String {
        (0..<32).map { _ in String(Int.random(in: 0..<16), radix: 16) }.joined()
    }
}

/// How a WebSocket misbehaves.
package enum FakeAICLIFault: Sendable, Hashable {
    /// Takes the request to upgrade, and says nothing more.
    case silentHandshake
    /// Closes instead of upgrading.
    case closedHandshake
    /// Upgrades, and says nothing more.
    case silent
    case resetBeforeWelcome
    /// Sends what is no message before each that is one.
    case garbage
    /// Sends nothing but what is no message.
    case onlyGarbage
    /// Announces a frame of 1 GiB.
    case oversize
    /// Sends a message of 9 MiB in frames of one, each of which is small enough.
    case oversizeMessage
    /// Cuts each message into frames of three bytes.
    case split
    /// Sends each byte by itself.
    case drip
    /// Sends all that is no reply twice.
    case duplicates
    /// Does not answer `ping`.
    case noPong
    /// Breaks when a prompt has come. The turn goes on.
    case resetAfterPrompt
    /// Closes in order when a prompt has come. The turn goes on.
    case closeAfterPrompt
    /// Values of the wrong type everywhere, before the welcome.
    case wrongTypes
}

/// How the agent answers one prompt.
package struct FakeAICLITurn: Sendable {
    package enum Step: Sendable {
        /// A frame of the session: its type, and its data without the session's id, as the members of an object.
        case push(String, String)
        /// The same, sent at another time by the server's clock.
        case pushed(Duration, String, String)
        /// Asks, and waits for the answer: a frame of its own, or the next prompt. So many copies of the question.
        case ask(String, options: [String], tool: String?, copies: Int)
        /// Pings the clients of the session (RFC 6455, section 5.5.2), and goes on when each has answered or is
        /// dropped.
        case ping
        /// Waits until ``FakeAICLI/release(_:)``.
        case hold(String)
        /// Waits until no client has subscribed to the session.
        case untilAlone
        /// Waits until a client has subscribed to the session again.
        case untilJoined
        /// The reply to the prompt.
        case reply(String)
        case replyFailed(String)
        /// Errors for the request, so many.
        case error(String, String, copies: Int)
        /// Forgets all sessions, as a restart does.
        case forgetSessions
        /// Breaks all connections.
        case resetAll
    }

    package var steps: [Step]

    package init(_ steps: [Step]) {
        self.steps = steps
    }

    /// Text in pieces, and the whole at the end.
    package static func answering(_ whole: String, pieces: [String]? = nil) -> FakeAICLITurn {
        let pieces = pieces ?? [whole]
        let start = Step.push("processStart", #""pid":4711,"command":"claude","type":"command""#)
        return FakeAICLITurn(
            [start, .sessionID] + pieces.map { .text($0) } + [.result, .reply(whole)]
        )
    }
}

extension FakeAICLITurn.Step {
    /// A piece of the answer.
    package static func text(_ text: String, type: String = "text") -> Self {
        chunk(#""type":\#(JSONText.quoted(type)),"content":\#(JSONText.quoted(text))"#)
    }

    /// The use of a tool.
    package static func tool(_ name: String) -> Self {
        chunk(#""type":"tool_use","content":"","metadata":{"toolName":\#(JSONText.quoted(name))}"#)
    }

    /// The first chunk of builds of August: an id, in the place of text.
    package static let sessionID = chunk(#""type":"session_id","content":"0f1e2d3c-4b5a-4697-8877-665544332211""#)

    /// - Parameter members: Those of the chunk.
    package static func chunk(_ members: String) -> Self {
        .push("streamChunk", #""chunk":{"id":"chunk-0",\#(members),"isFinal":false},"isFinal":false"#)
    }

    /// Cost has a fraction, and times are numbers here.
    package static let result = Self.push(
        "conversationResult",
        #""success":true,"duration":1234.5,"cost":0.0125,"usage":{"input_tokens":12,"output_tokens":34}"#
    )
}
