/// How freely an agent works in a chat, in its own words, such as `bypass permissions`. Hostile until it is sanitised.
package struct AgentMode: Codable, Sendable, Hashable {
    /// The most scalars of ``name``; the rest of a longer one is dropped.
    package static let maximumLength = 120

    /// One line of at most ``maximumLength`` scalars, and never empty.
    package let name: String

    /// For people: `mode: bypass permissions`. Not sanitised.
    package var text: String { "mode: \(name)" }

    /// Makes a mode from an agent's text: it becomes one line, and is cut to ``maximumLength`` scalars.
    ///
    /// - Returns: nil for a name of white space only.
    package init?(_ name: String) {
        let name = name.oneLine(atMost: Self.maximumLength)
        guard !name.isEmpty else { return nil }
        self.name = name
    }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let mode = AgentMode(try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "a mode without a name")
        }
        self = mode
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(name)
    }
}

extension KeyedDecodingContainer {
    /// Also used by what the compiler writes: what is no name of a mode makes nothing else unreadable.
    package func decodeIfPresent(_ type: AgentMode.Type, forKey key: Key) throws -> AgentMode? {
        (try? decodeIfPresent(String.self, forKey: key)).flatMap { AgentMode($0) }
    }
}
