package import CompanionWire

/// The generations of AICLI servers in use. All of them report version 1.0.0.
package enum AICLIGeneration: String, Codable, Sendable, Hashable {
    /// Answers come over the WebSocket: the earlier builds and their successors, which report the same and behave the
    /// same in everything that is used here.
    case webSocket = "ws"
    /// The newest builds, which send answers only through Apple's push service.
    case http

    /// Reads the answer of `GET /`.
    ///
    /// - Returns: nil if this is not an AICLI server.
    package init?(root: JSONValue) {
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

    /// The limitations of such a server, as text for the user; nil if there are none.
    package var limits: String? {
        switch self {
        case .webSocket: nil
        case .http:
            "This AICLI server is of the newest kind: it sends answers only to phones, through Apple's push service. A "
                + "workstation can see its health and projects, but cannot chat with it."
        }
    }

    /// The error for a turn at such a server.
    var refusal: CompanionClientError {
        var error = CompanionClientError(
            .unsupportedVersion,
            message: limits ?? "This AICLI server cannot chat.",
            delivery: .notSent
        )
        error.advice = "use the server's phone app, or pair with an older server"
        return error
    }
}

/// The state of an AICLI server: `GET /health`.
package struct AICLIHealth: Sendable, Hashable, Codable {
    /// Usually `healthy`.
    package var status: String
    /// The server's version; nil if the server does not tell it.
    package var version: String?
    /// Whether the agent's program is installed; nil if the server does not say.
    package var assistantAvailable: Bool?
    /// The interface that the server speaks.
    package var generation: AICLIGeneration

    /// - Returns: nil if this is not an AICLI server's answer.
    init?(_ value: JSONValue, generation: AICLIGeneration) {
        guard let status = value["status"]?.text else { return nil }
        self.status = status
        version = value["version"]?.text
        self.generation = generation
        let available = value["aicliCodeAvailable"] ?? value["claudeCodeAvailable"]
        assistantAvailable = available.flatMap(Self.isAvailable)
    }

    /// The value is a Bool, or an object that has it under one of several names.
    private static func isAvailable(_ value: JSONValue) -> Bool? {
        if let bool = value.bool { return bool }
        for name in ["available", "isAvailable", "success", "aicliAvailable", "installed"] {
            if let bool = value[name]?.bool { return bool }
        }
        guard let word = value.text("status", "aicli")?.lowercased() else { return nil }
        return ["healthy", "available", "ok", "running", "ready", "degraded"].contains(word)
    }
}
