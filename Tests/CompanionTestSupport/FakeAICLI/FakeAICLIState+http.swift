import CompanionWire
import FoundationEssentials

extension FakeAICLIState {
    /// The bytes of the answer to a request; nil for none at all.
    func answer(to request: FakeMac.Request) -> [UInt8]? {
        guard !script.silentPaths.contains(request.path) else { return nil }
        if let answer = script.answers[request.path] { return Self.http(answer.status, answer.body) }
        let isOpen = ["/", "/health", "/ws"].contains(request.path)
        let hasContinue = script.canContinue && script.generation != .july
        let isGuarded = script.guardsEverything || hasContinue && request.path == "/api/sessions/continue"
        guard isOpen || !isGuarded || allows(request) else {
            return Self.http(401, #"{"error":"Unauthorized","message":"Invalid token"}"#)
        }
        switch (request.method, request.path) {
        case ("GET", "/"): return Self.http(200, root)
        case ("GET", "/health"): return Self.http(200, health)
        case ("GET", "/api/status") where script.generation != .july:
            return Self.http(200, #"{"status":"running","port":"3001","version":"1.0.0"}"#)
        case ("GET", "/api/projects"): return Self.http(200, projects)
        case ("GET", "/api/sessions"):
            let ids = script.sessions.keys.sorted().map { JSONText.quoted($0) }
            return Self.http(200, #"{"sessions":[\#(ids.joined(separator: ","))]}"#)
        case ("POST", "/api/sessions/continue") where hasContinue: return continueSession(request)
        case ("DELETE", _) where request.path.hasPrefix("/api/stream/"):
            let id = String(request.path.dropFirst("/api/stream/".count))
            change { $0.sessions[id] = nil }
            return Self.http(200, #"{"success":true}"#)
        default:
            return Self.http(404, "<!DOCTYPE html><pre>Cannot \(request.method) \(request.path)</pre>", isHTML: true)
        }
    }

    private var root: String {
        let name = #""name":"AICLI Companion Server","version":"1.0.0","status":"running""#
        guard script.generation == .http else {
            return #"{\#(name),"endpoints":{"health":"/health","api":"/api","websocket":"/ws"}}"#
        }
        return
            #"{\#(name),"architecture":"HTTP + APNS","endpoints":{"health":"/health","chat":"/api/chat","qrCode":"/api/auth/setup"}}"#
    }

    private var health: String {
        let available = script.isAssistantAvailable
        let value =
            script.generation == .wsEarly
            ? "\(available)" : #"{"available":\#(available),"version":"1.0.55","load":0.25}"#
        return #"{"status":"healthy","version":"1.0.0","aicliCodeAvailable":\#(value),"timestamp":\#(timeText)}"#
    }

    private var projects: String {
        let projects = script.projects.map {
            #"{"name":\#(JSONText.quoted($0.name)),"path":\#(JSONText.quoted($0.path)),"type":"folder"}"#
        }
        return #"{"basePath":"/Users/ada","projects":[\#(projects.joined(separator: ","))]}"#
    }

    private func continueSession(_ request: FakeMac.Request) -> [UInt8] {
        guard let body = JSONValue(lenient: request.body), let id = body["sessionId"]?.string,
            let directory = body["workingDirectory"]?.string
        else { return Self.http(400, #"{"error":"Missing required fields"}"#) }
        guard let own = script.sessions[id] else { return Self.http(404, #"{"error":"Session not found"}"#) }
        guard own == directory else {
            return Self.http(
                400,
                #"{"error":"Working directory mismatch","expected":\#(JSONText.quoted(own)),"provided":\#(JSONText.quoted(directory))}"#
            )
        }
        let now = Int64(script.now().timeIntervalSince1970 * 1000)
        return Self.http(
            200,
            #"{"success":true,"sessionId":\#(JSONText.quoted(id)),"conversationStarted":true,"#
                + #""workingDirectory":\#(JSONText.quoted(own)),"createdAt":"2026-11-21T09:30:00.000Z","lastActivity":\#(now)}"#
        )
    }

    private static func http(_ status: Int, _ body: String, isHTML: Bool = false) -> [UInt8] {
        let type = isHTML ? "text/html" : "application/json"
        return Array(
            "HTTP/1.1 \(status) X\r\nContent-Type: \(type)\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)".utf8
        )
    }
}
