import CompanionWire

/// The messages of a chat as earlier versions kept them, in a file of their own. They are moved to the history.
struct AICLITranscript: Decodable, Sendable {
    var messages: [CompanionMessage]
}
