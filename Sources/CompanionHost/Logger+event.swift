import Logging

extension Logger.Metadata {
    /// What the log says of an event (companion-v2, Log): never prompts, answers, codes, tokens or keys.
    ///
    /// - Parameters:
    ///   - category: `pairing`, `auth`, `command` or `host`.
    ///   - code: The stable code of an error.
    ///   - latency: How long it took; written in milliseconds.
    ///   - device: The device's id.
    static func event(
        _ category: String,
        outcome: String,
        code: String? = nil,
        latency: Duration? = nil,
        device: String? = nil
    ) -> Logger.Metadata {
        var metadata: Logger.Metadata = ["category": "\(category)", "outcome": "\(outcome)"]
        if let code { metadata["code"] = "\(code)" }
        if let latency {
            let (seconds, attoseconds) = latency.components
            metadata["ms"] = "\(Double(seconds * 1000) + (Double(attoseconds) / 1e13).rounded() / 100)"
        }
        if let device { metadata["device"] = "\(device)" }
        return metadata
    }
}
