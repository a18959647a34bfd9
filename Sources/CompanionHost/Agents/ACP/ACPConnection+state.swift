import CompanionWire

extension ACPConnection {
    /// The listener of a session while a prompt runs. Its closures are called in the order of the agent's messages.
    struct Listener: Sendable {
        var update: @Sendable (ACPUpdate, _ raw: JSONValue) -> Void
        var question: @Sendable (ACPQuestion) -> Void
        var form: @Sendable (ACPForm) -> Void
        var withdrawn: @Sendable (Int) -> Void
    }

    /// A session of the agent, as it was begun or taken up.
    struct Session: Sendable, Hashable {
        var id: String
        var directory: String
    }

    /// How long the process may take, and how much it may say.
    struct Limits: Sendable {
        /// From its start to its answer to `initialize`: some are downloaded first.
        var start = Duration.seconds(60)
        /// To begin or resume a session; each sign of life restarts it.
        var session = Duration.seconds(120)
        /// To end a prompt that was cancelled.
        var cancel = Duration.seconds(10)
        /// Updates of a turn besides text and thoughts.
        var updates = 100_000
        /// Bytes of a turn's tool calls that have not ended: their arguments and changes are kept for questions.
        var openCalls = 64 << 20
        /// Bytes that may wait to be written to an agent that goes on to ask: it does not read. Several prompts with
        /// pictures may wait.
        var queue = 128 << 20
    }

    /// A call of ours whose answer is yet to come.
    struct Waiting {
        var continuation: CheckedContinuation<JSONValue, any Error>
        var call: ACPCall
        /// Which chat goes on in the session that the call begins or takes up.
        var chat: ByteText?
        /// Takes what was said in the session that the call loads.
        var replay: ACPReplay?
        /// Whether an agent that does not answer takes no more turns.
        var isVital = true
        /// When it was begun, or gave a sign of life.
        var since = ContinuousClock.now

        var session: ByteText? { call.session.map(ByteText.init) }
        var isPrompt: Bool { if case .prompt = call { true } else { false } }
    }

    /// Guarded by the connection's lock.
    struct State {
        var client = ACPClient()
        var calls: [Int: Waiting] = [:]
        var listeners: [ByteText: Listener] = [:]
        var modes: [ByteText: ACPModes] = [:]
        /// The agent's words about each session beside its prompts.
        var facts: [ByteText: ACPSessionFacts] = [:]
        var sessions: [ByteText: Session] = [:]
        /// The agent's answer to `initialize`; nil until it has come.
        var introduction: JSONValue?
        var readers: [Int: CheckedContinuation<ACPAgentInfo, any Error>] = [:]
        var nextReader = 0
        var end: (any Error)?
        /// Turns that need the process.
        var users = 0
        var isRetired = false
        /// Whether the agent has closed its output: then its process tells why the conversation ends.
        var hasEndedOutput = false
        /// Bytes that are to be written to the agent.
        var queued = 0

        /// The agent's abilities; nil until it has named them.
        var info: ACPAgentInfo? { introduction.map(ACPAgentInfo.init) }
    }
}
