/// A message of an agent in the words of the Agent Client Protocol, for a reader that passes it on to an editor. Other
/// events of the turn say the same for all other readers.
package struct ACPFrame: Sendable, Hashable {
    package enum Content: Sendable, Hashable {
        /// `update` of a `session/update`.
        case update(JSONValue)
        /// A request to a person.
        case request(ACPPersonRequest)
        /// The answer to the prompt.
        case answer(JSONValue)
        /// From here on there are no more such frames: they would be too many. The turn's other events go on.
        case cut
    }

    package var content: Content

    package init(_ content: Content) { self.content = content }

    /// Bytes of its JSON, about.
    package var size: Int {
        switch content {
        case .update(let value), .answer(let value): Self.bytes(of: value)
        case .request(let request): request.parameters.utf8.count
        case .cut: 0
        }
    }

    private static func bytes(of value: JSONValue) -> Int {
        switch value {
        case .string(let text): text.utf8.count + 2
        case .array(let elements): elements.reduce(2) { $0 + bytes(of: $1) + 1 }
        case .object(let members): members.reduce(2) { $0 + $1.key.utf8.count + bytes(of: $1.value) + 4 }
        default: 8
        }
    }
}

/// A request of an agent to a person: `session/request_permission` or `elicitation/create`.
package struct ACPPersonRequest: Codable, Sendable, Hashable {
    /// The id of the question at the host.
    package var approvalId: String
    package var method: String
    /// Its parameters without `sessionId`, as JSON text: the order of a form's fields counts.
    package var parameters: String

    package init(approvalId: String, method: String, parameters: String) {
        (self.approvalId, self.method, self.parameters) = (approvalId, method, parameters)
    }
}

extension ACPPersonRequest {
    /// Bytes of the parameters.
    private static let mostBytes = 1 << 20

    /// The parameters as text that can stand in a line, whoever has written them; nil for what is no object. Their order
    /// stays.
    package var checkedParameters: String? {
        JSONValue(lenient: Array(parameters.utf8), ordering: "properties").flatMap(Self.text(of:))
    }

    /// The parameters of a request as JSON text, without the session.
    ///
    /// - Parameter parameters: Objects in which the order counts are pairs of a name and a value, as
    ///   ``JSONValue/init(lenient:ordering:)`` reads `properties`.
    /// - Returns: nil for what is no object, or over 1 MiB.
    package static func text(of parameters: JSONValue) -> String? {
        guard var members = parameters.object else { return nil }
        // They are of the host's numbering.
        (members["sessionId"], members["requestId"]) = (nil, nil)
        var bytes: [UInt8] = []
        write(.object(members), isOrdered: false, to: &bytes)
        guard bytes.count <= mostBytes else { return nil }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func write(_ value: JSONValue, isOrdered: Bool, to bytes: inout [UInt8]) {
        switch value {
        case .object(let members):
            let pairs = members.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
            write(pairs, to: &bytes)
        case .array(let elements) where isOrdered:
            let pairs = elements.compactMap { pair -> (String, JSONValue)? in
                guard let parts = pair.array, parts.count == 2, let name = parts[0].string else { return nil }
                return (name, parts[1])
            }
            write(pairs, to: &bytes)
        case .array(let elements):
            bytes.append(UInt8(ascii: "["))
            for (index, element) in elements.enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                write(element, isOrdered: false, to: &bytes)
            }
            bytes.append(UInt8(ascii: "]"))
        default: bytes += value.json
        }
    }

    private static func write(_ members: [(String, JSONValue)], to bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "{"))
        for (index, (name, value)) in members.enumerated() {
            if index > 0 { bytes.append(UInt8(ascii: ",")) }
            bytes += JSONValue.string(name).json
            bytes.append(UInt8(ascii: ":"))
            write(value, isOrdered: name.isSame(as: "properties"), to: &bytes)
        }
        bytes.append(UInt8(ascii: "}"))
    }
}

extension ACPFrame {
    /// The `type` of its frame.
    static let type = "agent_acp"

    var update: JSONValue? { if case .update(let value) = content { value } else { nil } }
    var request: ACPPersonRequest? { if case .request(let request) = content { request } else { nil } }
    var answer: JSONValue? { if case .answer(let value) = content { value } else { nil } }
}

extension ACPFrame: Decodable {
    private enum CodingKeys: String, CodingKey { case update, request, answer }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        if let update = try container.decodeIfPresent(JSONValue.self, forKey: .update) {
            content = .update(update)
        } else if let request = try container.decodeIfPresent(ACPPersonRequest.self, forKey: .request) {
            content = .request(request)
        } else if let answer = try container.decodeIfPresent(JSONValue.self, forKey: .answer) {
            content = .answer(answer)
        } else {
            content = .cut
        }
    }
}
