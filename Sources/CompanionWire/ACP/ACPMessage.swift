/// The id of a request. Both sides number their own requests, so the same id means two things.
package enum ACPID: Sendable, Hashable {
    case integer(Int64)
    case string(ByteText)
    /// Of an answer to what was no message.
    case null

    package init?(_ value: JSONValue?) {
        if let number = value?.integer {
            self = .integer(number)
        } else if let text = value?.string {
            self = .string(ByteText(text))
        } else {
            return nil
        }
    }

    /// The number of a request of ours: some agents send it back as text.
    package var number: Int? {
        switch self {
        case .integer(let number): Int(exactly: number)
        case .string(let text): Int(text.text)
        case .null: nil
        }
    }

    package var value: JSONValue {
        switch self {
        case .integer(let number): .integer(number)
        case .string(let text): .string(text.text)
        case .null: .null
        }
    }
}

/// An error with which the other side answers a request (JSON-RPC 2.0, Error object).
package struct ACPRefusal: Error, Sendable, Hashable {
    package static let noMessage: Int64 = -32700
    /// The code for JSON that is no message.
    package static let noRequest: Int64 = -32600
    package static let failed: Int64 = -32603
    package static let signInRequired: Int64 = -32000
    package static let notFound: Int64 = -32002
    package static let unknownMethod: Int64 = -32601
    package static let invalidParameters: Int64 = -32602

    package var code: Int64
    package var message: String

    package init(code: Int64, message: String) {
        self.code = code
        self.message = message
    }

    package init(_ value: JSONValue) {
        code = value["code"]?.integer ?? 0
        // Some agents say "Internal error" and give the reason in `data`.
        let details = value["data"]?["details"]?.string ?? value["data"]?["message"]?.string ?? value["data"]?.string
        let message = value["message"]?.string ?? ""
        self.message = [message, details ?? ""].filter { !$0.isEmpty }.joined(separator: ": ")
    }
}

/// A message of JSON-RPC 2.0. One with a `method` is a request or a notification, one without is an answer.
package enum ACPMessage: Sendable {
    case request(ACPID, method: String, parameters: JSONValue)
    case notification(method: String, parameters: JSONValue)
    case answer(ACPID, Result<JSONValue, ACPRefusal>)

    /// The request for leave for a tool.
    package static let permissionMethod = "session/request_permission"
    /// The requests that change the settings of a session.
    package static let setModeMethod = "session/set_mode"
    package static let setOptionMethod = "session/set_config_option"
    /// Updates that tell the state of a session: the last one of a kind holds until the next.
    package static let stateUpdates: Set<String> = [
        "available_commands_update", "current_mode_update", "config_option_update", "session_info_update",
        "usage_update",
    ]
    /// The request for a form or an opened page.
    package static let formMethod = "elicitation/create"

    /// nil for a line that is no such message.
    package init?(_ line: [UInt8]) {
        guard let value = JSONValue(lenient: line) else { return nil }
        self.init(value)
    }

    /// The messages of a line. Agents print titles, escape sequences, a byte-order mark and other text in front of a
    /// message, and some print one message directly behind another.
    package static func all(in line: [UInt8]) -> [ACPMessage] {
        guard var value = JSONValue(lenient: line) else {
            return JSONValue.objects(in: line, with: "jsonrpc").compactMap(ACPMessage.init)
        }
        // The fields of a form have an order.
        if value["method"] == .string(formMethod), let same = JSONValue(lenient: line, ordering: "properties") {
            value = same
        }
        return ACPMessage(value).map { [$0] } ?? []
    }

    private init?(_ value: JSONValue) {
        guard value.isObject else { return nil }
        let id = ACPID(value["id"])
        if let method = value["method"]?.string {
            let parameters = value["params"] ?? .null
            self =
                id.map { .request($0, method: method, parameters: parameters) }
                ?? .notification(method: method, parameters: parameters)
        } else if let id, let error = value["error"], error != .null {
            self = .answer(id, .failure(ACPRefusal(error)))
        } else if let id, let result = value["result"] {
            self = .answer(id, .success(result))
        } else {
            return nil
        }
    }

    /// The message as a line, with its end.
    package var line: [UInt8] {
        var members: [String: JSONValue] = ["jsonrpc": "2.0"]
        switch self {
        case .request(let id, let method, let parameters):
            members["id"] = id.value
            members["method"] = .string(method)
            members["params"] = parameters
        case .notification(let method, let parameters):
            members["method"] = .string(method)
            members["params"] = parameters
        case .answer(let id, .success(let result)):
            members["id"] = id.value
            members["result"] = result
        case .answer(let id, .failure(let refusal)):
            members["id"] = id.value
            members["error"] = ["code": .integer(refusal.code), "message": .string(refusal.message)]
        }
        return JSONValue.object(members).json + [UInt8(ascii: "\n")]
    }
}
