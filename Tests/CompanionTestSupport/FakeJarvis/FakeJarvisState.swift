import FoundationEssentials
import NIOConcurrencyHelpers
import NIOHTTP1

/// The state of a fake daemon, behind a lock.
final class FakeJarvisState: ConnectionAnswering {
    struct Contents: Sendable {
        var script: FakeJarvisScript
        var requests: [FakeMac.Request] = []
    }

    let gates = Gates()
    let contents: NIOLockedValueBox<Contents>

    init(script: FakeJarvisScript) {
        contents = NIOLockedValueBox(Contents(script: script))
    }

    /// Notes a request and decides what to do about it.
    func answer(to request: FakeMac.Request) -> [FakeMacAction] {
        contents.withLockedValue { contents in
            contents.requests.append(request)
            let number = contents.requests.count { $0.method == request.method && $0.path == request.path }
            gates.open("\(request.method) \(request.path) \(number)")
            guard let index = contents.script.faults.firstIndex(where: { $0.hits(request) }) else {
                return contents.answer(to: request)
            }
            if let times = contents.script.faults[index].times { contents.script.faults[index].times = times - 1 }
            return contents.misbehave(contents.script.faults[index].kind, to: request)
        }
    }
}

extension FakeJarvisState.Contents {
    mutating func misbehave(_ kind: FakeJarvisFault.Kind, to request: FakeMac.Request) -> [FakeMacAction] {
        switch kind {
        case .redirect(let target):
            return [reply(302, "text/plain", "Found", extra: "Location: \(target)\r\n")]
        case .oversized(let bytes, let declared):
            let body = String(repeating: " ", count: bytes)
            guard declared else {
                return [.send("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n"), .send(body), .close]
            }
            return [reply(200, "application/json", body)]
        case .garbage(let bytes):
            return [.send(bytes), .close]
        case .page(let status):
            return [reply(status, "text/html", "<!DOCTYPE html><html><body>nginx</body></html>")]
        case .json(let status, let text):
            return [reply(status, "application/json", text)]
        case .silence(let gate):
            return [.hold(gate)] + answer(to: request)
        case .reset:
            return [.reset]
        case .losesAnswer:
            _ = answer(to: request)
            return [.close]
        case .obeys(let fault):
            _ = answer(to: request)
            return misbehave(fault, to: request)
        case .cutBody:
            return [
                .send("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n[{"), .close,
            ]
        case .drip:
            return answer(to: request).map { action in
                if case .send(let bytes) = action { .drip(bytes) } else { action }
            }
        case .decidesFirst(let id, let status, let fault):
            if let index = script.approvals.firstIndex(where: { $0.id == id }) {
                script.approvals[index].status = status
                script.approvals[index].resolvedAt = FakeJarvis.time(Date())
            }
            return fault.map { misbehave($0, to: request) } ?? answer(to: request)
        case .removesFirst(let id):
            script.approvals.removeAll { $0.id == id }
            return answer(to: request)
        }
    }

    func reply(_ status: Int, _ type: String, _ body: String, extra: String = "") -> FakeMacAction {
        let head =
            "HTTP/1.1 \(status) \(HTTPResponseStatus(statusCode: status).reasonPhrase)\r\n\(extra)Content-Type: \(type)\r\n"
            + "Content-Length: \(body.utf8.count)\r\nConnection: keep-alive\r\n\r\n"
        return .send(Array((head + body).utf8))
    }

    func json(_ text: String) -> [FakeMacAction] {
        [reply(200, "application/json; charset=utf-8", text)]
    }

    func refuse(_ status: Int, _ reason: String) -> [FakeMacAction] {
        [reply(status, "application/json; charset=utf-8", #"{"error":true,"reason":\#(JSONText.quoted(reason))}"#)]
    }
}
