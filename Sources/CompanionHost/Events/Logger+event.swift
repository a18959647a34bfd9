import CompanionWire
import Logging

extension Logger.Metadata {
    /// The fields of a log line about an event (companion-v2, Log): never prompts, answers, codes, tokens or keys.
    ///
    /// - Parameters:
    ///   - category: `pairing`, `auth`, `command` or `host`.
    ///   - code: The stable code of an error.
    ///   - latency: How long it took; written in milliseconds.
    ///   - device: The device's id.
    ///   - more: Further fields.
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
            let hundredths = seconds * 100_000 + Int64((Double(attoseconds) / 1e13).rounded())
            metadata["ms"] = "\(Double(hundredths) / 100)"
        }
        if let device { metadata["device"] = "\(device)" }
        return metadata
    }

    /// The fields of a log line about a failure of the host itself.
    ///
    /// - Parameters:
    ///   - reason: The error. It has no text that people wrote.
    ///   - more: Further fields.
    static func failure(
        _ reason: any Error,
        code: CompanionErrorCode? = .internal,
        _ more: Logger.Metadata = [:]
    ) -> Logger.Metadata {
        event("host", outcome: "failed", code: code?.rawValue, more.merging(["reason": "\(reason)"]) { $1 })
    }
}
