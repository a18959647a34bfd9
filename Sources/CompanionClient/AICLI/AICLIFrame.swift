package import CompanionWire
package import FoundationEssentials
import Identity

/// A frame of an AICLI server: `{type, requestId, timestamp, data}` (aicli, "WebSocket").
package struct AICLIFrame: Sendable, Hashable {
    /// The kind of the frame, such as `streamChunk`; it decides the shape of the data.
    package var type: String
    /// The id of the request that the frame answers; nil if the frame names none.
    package var requestID: String?
    /// The time of the frame; nil if the frame has none that can be read.
    package var timestamp: Date?
    /// The content; `null` if the frame has none.
    package var data: JSONValue
    /// The `error` of an error frame. It is next to `data`, not inside it.
    package var error: AICLIServerError?
    /// Whether the server stored the frame while nobody was connected.
    package var isQueued: Bool
    /// When the frame was first sent.
    package var origin: Date?

    /// - Returns: nil if this is not a frame: not JSON, not an object, or without a type.
    package init?(json: some Sequence<UInt8>) {
        guard let value = JSONValue(lenient: Array(json)), let type = value["type"]?.string, !type.isEmpty else {
            return nil
        }
        self.type = type
        requestID = value["requestId"]?.string
        timestamp = value["timestamp"]?.date
        data = value["data"] ?? .null
        if type == "error" {
            // According to the documents it is in `data`; real servers put it next to it.
            error = AICLIServerError(value["error"] ?? data)
        }
        isQueued = value["_queued"]?.bool == true || value["_originalTimestamp"] != nil
        origin = value["_originalTimestamp"]?.date ?? timestamp
    }

    /// The session that the frame belongs to; nil if the frame does not say.
    package var sessionID: String? { data["sessionId"]?.string }

    /// How long after it was first sent the frame arrives; nil for a live frame.
    package func delay(now: Date) -> Duration? {
        guard isQueued, let origin else { return nil }
        return .milliseconds(Int64(max(0, now.timeIntervalSince(origin)) * 1000))
    }

    /// Recognises a frame that is delivered again: a hash of its type, time and content. 16 hex digits.
    ///
    /// nil for a frame without a time: two such frames can be equal without being repeated.
    package var identity: String? {
        guard let origin else { return nil }
        let milliseconds = Int64((origin.timeIntervalSince1970 * 1000).rounded())
        return DeviceIdentity.shortHash("\(type)\(milliseconds)" + String(decoding: data.json, as: UTF8.self))
    }
}

/// A frame for an AICLI server.
package struct AICLIRequest: Sendable, Hashable {
    package var type: String
    /// The id that the server repeats in its answer.
    package var requestID: String
    /// The members that belong to the type; an object.
    package var data: JSONValue

    init(_ type: String, id: String, data: JSONValue = .object([:])) {
        self.type = type
        self.requestID = id
        self.data = data
    }

    /// Returns the frame as JSON, with `now` as its timestamp.
    package func json(now: Date) -> [UInt8] {
        JSONValue.object([
            "type": .string(type), "requestId": .string(requestID), "data": data,
            "timestamp": .string(CompanionTimestamp.string(from: now)),
        ]).json
    }
}
