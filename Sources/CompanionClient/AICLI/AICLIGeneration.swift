import CompanionWire

/// The kinds of AICLI server in the field. All of them call themselves version 1.0.0.
package enum AICLIGeneration: String, Codable, Sendable, Hashable {
    /// WebSocket with answers: the earlier builds and those after them, which say the same of themselves and differ in
    /// nothing that is used here.
    case webSocket = "ws"
    /// The newest: it sends answers by Apple's push service, and to nobody else.
    case http

    /// Reads the answer of `GET /`.
    ///
    /// - Returns: Nil for what is no AICLI server.
    package init?(root: AICLIValue) {
        if let architecture = root["architecture"]?.string?.uppercased(), architecture.has("APNS") {
            self = .http
        } else if root["endpoints"]?["websocket"]?.text != nil {
            self = .webSocket
        } else if root["endpoints"]?["chat"]?.text != nil {
            self = .http
        } else {
            return nil
        }
    }

    /// What cannot be had from such a server, for people; nil where nothing is missing.
    package var limits: String? {
        switch self {
        case .webSocket: nil
        case .http:
            "This AICLI server is of the newest kind: it sends answers by Apple's push service to phones only, so a "
                + "workstation can look at its health and projects, but not chat with it."
        }
    }

    /// The error for a turn with such a server.
    var refusal: CompanionClientError {
        var error = CompanionClientError(
            .unsupportedVersion,
            limits ?? "This AICLI server cannot chat.",
            delivery: .notSent
        )
        error.advice = "chat by that server's phone app, or pair with one of an earlier kind"
        return error
    }
}

/// How an AICLI server does: `GET /health`.
package struct AICLIHealth: Sendable, Hashable, Codable {
    /// `healthy`, as a rule.
    package var status: String
    package var version: String?
    /// Whether the agent's own program is there; nil where the server does not say.
    package var assistantAvailable: Bool?
    package var generation: AICLIGeneration

    /// - Returns: Nil for what is no AICLI server's answer.
    init?(_ value: AICLIValue, generation: AICLIGeneration) {
        guard let status = value["status"]?.text else { return nil }
        self.status = status
        version = value["version"]?.text
        self.generation = generation
        let available = value["aicliCodeAvailable"] ?? value["claudeCodeAvailable"]
        assistantAvailable = available.flatMap(Self.isAvailable)
    }

    /// A Bool, or an object that says it in one of several ways.
    private static func isAvailable(_ value: AICLIValue) -> Bool? {
        if let bool = value.bool { return bool }
        for name in ["available", "isAvailable", "success", "aicliAvailable", "installed"] {
            if let bool = value[name]?.bool { return bool }
        }
        guard let word = value.text("status", "aicli")?.lowercased() else { return nil }
        return ["healthy", "available", "ok", "running", "ready", "degraded"].contains(word)
    }
}
