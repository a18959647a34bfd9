import NIOConcurrencyHelpers
import NIOCore

/// A server that takes notifications, as ntfy or a webhook does, and can also refuse them. What it was sent is on record.
package struct FakeNotify: Sendable {
    /// How it answers a request.
    package enum Reply: Sendable {
        case status(Int, headers: [String] = [])
        /// With that status, once the gate is open.
        case held(String, status: Int)
        /// Never.
        case silence
    }

    package let port: Int
    let state: FakeNotifyState

    /// The requests so far.
    package var requests: [FakeMac.Request] { state.contents.withLockedValue(\.requests) }

    /// Answers the next requests so; the others with 200.
    package func reply(_ replies: Reply...) {
        state.contents.withLockedValue { $0.replies += replies }
    }

    /// The requests, once there are as many.
    package func requests(atLeast count: Int) async throws -> [FakeMac.Request] {
        try await state.gates.pass("request \(count)")
        return requests
    }

    package func open(_ gate: String) { state.gates.open("release \(gate)") }
}

/// Runs `body` with such a server on a free port of this machine.
package func withFakeNotify<Result>(
    isolation: isolated (any Actor)? = #isolation,
    _ body: (FakeNotify) async throws -> Result
) async throws -> Result {
    let state = FakeNotifyState()
    return try await withListener(accept: { try FakeMacConnection(channel: $0) }, serve: { await $0.serve(state) }) {
        try await body(FakeNotify(port: $0, state: state))
    }
}

final class FakeNotifyState: ConnectionAnswering {
    struct Contents: Sendable {
        var requests: [FakeMac.Request] = []
        var replies: [FakeNotify.Reply] = []
    }

    let gates = Gates()
    let contents = NIOLockedValueBox(Contents())

    func answer(to request: FakeMac.Request) -> [FakeMacAction] {
        let (count, reply) = contents.withLockedValue { contents in
            contents.requests.append(request)
            let reply = contents.replies.isEmpty ? nil : contents.replies.removeFirst()
            return (contents.requests.count, reply)
        }
        gates.open("request \(count)")
        switch reply ?? .status(200) {
        case .status(let status, let headers): return [Self.answer(status, headers)]
        case .held(let gate, let status): return [.hold(gate), Self.answer(status, [])]
        case .silence: return [.hold("never")]
        }
    }

    private static func answer(_ status: Int, _ headers: [String]) -> FakeMacAction {
        let lines = headers.map { $0 + "\r\n" }.joined()
        return .send("HTTP/1.1 \(status) Status\r\nContent-Length: 2\r\n\(lines)\r\n{}")
    }
}
