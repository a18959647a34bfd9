import CompanionWire
import Logging

extension Logger.Metadata {
    /// What the log says of an event (companion-v2, Log): never prompts, answers, codes, tokens or keys.
    ///
    /// - Parameters:
    ///   - category: `pairing`, `auth`, `command` or `host`.
    ///   - code: The stable code of an error.
    ///   - latency: How long it took; written in milliseconds.
    ///   - device: The device's id.
    ///   - more: What else there is to say of it.
    static func event(
        _ category: String,
        outcome: String,
        code: String? = nil,
        latency: Duration? = nil,
        device: String? = nil,
        _ more: Logger.Metadata = [:]
    ) -> Logger.Metadata {
        var metadata = more
        metadata["category"] = "\(category)"
        metadata["outcome"] = "\(outcome)"
        if let code { metadata["code"] = "\(code)" }
        if let latency {
            let (seconds, attoseconds) = latency.components
            metadata["ms"] = "\(Double(seconds * 1000) + (Double(attoseconds) / 1e13).rounded() / 100)"
        }
        if let device { metadata["device"] = "\(device)" }
        return metadata
    }

    /// What the log says when the host itself could not do something.
    ///
    /// - Parameters:
    ///   - reason: The error. It holds no text of people.
    ///   - more: What else there is to say of it.
    static func failure(
        _ reason: any Error,
        code: CompanionErrorCode? = .internal,
        _ more: Logger.Metadata = [:]
    ) -> Logger.Metadata {
        event("host", outcome: "failed", code: code?.rawValue, more.merging(["reason": "\(reason)"]) { $1 })
    }
}
