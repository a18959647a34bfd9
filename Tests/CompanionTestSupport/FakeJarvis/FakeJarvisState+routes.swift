import FoundationEssentials

extension FakeJarvisState.Contents {
    private struct Reason: Decodable {
        var reason: String
    }

    /// The answer of a daemon that behaves.
    mutating func answer(to request: FakeMac.Request) -> [FakeMacAction] {
        let words = request.path.split(separator: "/").map(String.init)
        guard words.prefix(2) == ["api", "v1"] else { return refuse(404, "Not Found") }
        if let token = script.token, words.last != "health", request.header("Authorization") != "Bearer \(token)" {
            return refuse(401, "Unauthorized")
        }
        switch (request.method, Array(words.dropFirst(2))) {
        case ("GET", ["health"]):
            return json(
                #"{"status":"\#(script.health)","version":"\#(script.version)","timestamp":"\#(FakeJarvis.time(Date()))"}"#
            )
        case ("GET", ["approval", "pending"]):
            return json(pending)
        case ("GET", let path) where path.count == 3 && path.starts(with: ["approval", "status"]):
            guard let approval = script.approvals.first(where: { $0.id == path[2] }) else {
                return refuse(404, "Not Found")
            }
            return json(state(of: approval))
        case ("POST", let path) where path.count == 3 && path.starts(with: ["approval", "approve"]):
            return decide(path[2], "approved")
        case ("POST", let path) where path.count == 3 && path.starts(with: ["approval", "reject"]):
            return decoded(request, as: Reason.self).map { _ in decide(path[2], "rejected") } ?? refusal(of: request)
        default:
            return refuse(404, "Not Found")
        }
    }

    private var pending: String {
        let entries = script.approvals.filter { $0.status == "pending" }.map(entry)
        return "["
            + (script.strangeEntries + (script.listsTwice ? entries + entries.reversed() : entries))
            .joined(separator: ",") + "]"
    }

    /// With a key that no document tells of.
    private func entry(_ approval: FakeJarvisApproval) -> String {
        let details = approval.details.map { "\(JSONText.quoted($0.key)):\(JSONText.quoted($0.value))" }
        return object([
            ("id", approval.id), ("action", approval.action), ("reason", approval.reason),
            ("requestedBy", approval.requestedBy), ("requestedAt", approval.requestedAt), ("status", approval.status),
            ("riskLevel", "medium"),
        ]).dropLast() + #","details":{\#(details.joined(separator: ","))}}"#
    }

    private func state(of approval: FakeJarvisApproval) -> String {
        object(
            [
                ("id", approval.id), ("action", approval.action), ("status", approval.status),
                ("requestedAt", approval.requestedAt),
            ] + (approval.resolvedAt.map { [("resolvedAt", $0)] } ?? [])
        )
    }

    private func object(_ members: [(String, String)]) -> String {
        "{" + members.map { "\(JSONText.quoted($0)):\(JSONText.quoted($1))" }.joined(separator: ",") + "}"
    }

    /// A decided request is decided again without a word; an unknown one is a fault of the daemon's.
    private mutating func decide(_ id: String, _ status: String) -> [FakeMacAction] {
        guard let index = script.approvals.firstIndex(where: { $0.id == id }) else {
            return refuse(500, "Something went wrong.")
        }
        script.approvals[index].status = status
        script.approvals[index].resolvedAt = FakeJarvis.time(Date())
        return json(object([("id", id), ("status", status), ("message", "Request \(status)")]))
    }

    private func decoded<Body: Decodable>(_ request: FakeMac.Request, as: Body.Type) -> Body? {
        guard request.header("Content-Type")?.hasPrefix("application/json") == true, request.body.count <= 16 << 10
        else { return nil }
        return try? JSONDecoder().decode(Body.self, from: Data(request.body))
    }

    private func refusal(of request: FakeMac.Request) -> [FakeMacAction] {
        if request.body.count > 16 << 10 { return refuse(413, "Payload Too Large") }
        if request.header("Content-Type") == nil { return refuse(415, "Unsupported Media Type") }
        return request.body.isEmpty ? refuse(422, "Empty Body") : refuse(400, "Bad Request")
    }
}
