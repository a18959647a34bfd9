import CompanionWire
package import FoundationEssentials
import PairingAgent

/// A frame of an AICLI server: `{type, requestId, timestamp, data}` (aicli, "WebSocket").
package struct AICLIFrame: Sendable, Hashable {
    package var type: String
    package var requestID: String?
    package var timestamp: Date?
    package var data: AICLIValue
    /// The `error` of an error frame: beside `data`, not in it.
    package var error: AICLIServerError?
    /// Whether the server kept it while nobody was connected; else it comes as it happens.
    package var isQueued: Bool
    /// When it was sent first.
    package var origin: Date?

    /// - Returns: Nil for what is no frame: not JSON, no object, or without a type.
    package init?(json: some Sequence<UInt8>) {
        guard let value = try? AICLIValue(json: json), let type = value["type"]?.string, !type.isEmpty else {
            return nil
        }
        self.type = type
        requestID = value["requestId"]?.string
        timestamp = value["timestamp"]?.date
        data = value["data"] ?? .null
        if type == "error" {
            // The documents put it under `data`; real servers do not.
            error = AICLIServerError(value["error"] ?? data)
        }
        isQueued = value["_queued"]?.bool == true || value["_originalTimestamp"] != nil
        origin = value["_originalTimestamp"]?.date ?? timestamp
    }

    /// The session that the frame is about; nil where it does not say.
    package var sessionID: String? { data["sessionId"]?.string }

    /// How much later than it was sent first it comes now; nil for a message that comes as it happens.
    package func delay(now: Date) -> Duration? {
        guard isQueued, let origin else { return nil }
        return .milliseconds(Int64(max(0, now.timeIntervalSince(origin)) * 1000))
    }

    /// What the frame is known by when it comes again: the same kind, time and content. 16 hex digits.
    ///
    /// Nil for a frame without a time, which may well come twice.
    package var identity: String? {
        guard let origin else { return nil }
        let milliseconds = Int64((origin.timeIntervalSince1970 * 1000).rounded())
        return DeviceIdentity.shortHash("\(type)\(milliseconds)" + String(decoding: data.json, as: UTF8.self))
    }
}

/// A frame for an AICLI server.
package struct AICLIRequest: Sendable, Hashable {
    package var type: String
    package var requestID: String
    package var data: AICLIValue

    package init(_ type: String, id: String, _ data: AICLIValue = .object([:])) {
        self.type = type
        self.requestID = id
        self.data = data
    }

    package func json(now: Date) -> [UInt8] {
        AICLIValue.object([
            "type": .string(type), "requestId": .string(requestID), "data": data,
            "timestamp": .string(CompanionTimestamp.string(from: now)),
        ]).json
    }
}
