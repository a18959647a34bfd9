package import FoundationEssentials

/// The answer of `POST /companion/command`.
package struct CommandResponse: Codable, Sendable, Hashable {
    package var ok: Bool
    package var commandId: String
    /// Whether the command had been executed before and this is the stored result.
    package var replayed: Bool
    package var serverTime: Date
    /// What the command gave: see the table in companion-v2.
    package var result: JSONValue

    package init(commandId: String, replayed: Bool, serverTime: Date, result: JSONValue) {
        self.ok = true
        self.commandId = commandId
        self.replayed = replayed
        self.serverTime = serverTime
        self.result = result
    }
}
