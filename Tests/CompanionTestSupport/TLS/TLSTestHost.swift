import NIOConcurrencyHelpers
import NIOCore
package import NIOSSL

/// A host behind TLS whose every answer a test writes. What it was sent is on record.
package struct TLSTestHost: Sendable {
    package let port: Int
    package let certificate: TestCertificate
    private let script: Script

    package var endpointText: String { "127.0.0.1:\(port)" }
    /// All requests so far, in the order of their arrival.
    package var requests: [FakeMac.Request] { script.recorded.withLockedValue { $0 } }

    /// The requests so far with this method and path, whatever their query is.
    package func requests(_ method: String, _ path: String) -> [FakeMac.Request] {
        requests.filter { $0.method == method && $0.path == path }
    }

    /// Lets a held answer go on.
    package func release(_ gate: String) { script.gates.open("release \(gate)") }

    /// Waits until an answer is held there.
    package func reached(_ gate: String) async throws { try await script.gates.pass("reached \(gate)") }

    /// Returns the actions for a request; the number counts the requests for the same path, from 1. An error is
    /// answered with status 500.
    package typealias Answer = @Sendable (FakeMac.Request, Int) throws -> [FakeMacAction]

    fileprivate init(port: Int, certificate: TestCertificate, script: Script) {
        self.port = port
        self.certificate = certificate
        self.script = script
    }

    fileprivate struct Script: ConnectionAnswering {
        let respond: Answer
        let gates = Gates()
        let recorded = NIOLockedValueBox<[FakeMac.Request]>([])

        func answer(to request: FakeMac.Request) -> [FakeMacAction] {
            let count = recorded.withLockedValue { recorded in
                recorded.append(request)
                return recorded.count { $0.path == request.path }
            }
            do {
                return try respond(request, count)
            } catch {
                return [.json(500, #"{"ok":false,"error":"the test's host failed"}"#)]
            }
        }
    }
}

/// Runs `body` with a host that listens on a free port, and ends the host behind it.
///
/// - Parameters:
///   - port: Default: any free one.
///   - version: The only version of TLS that it speaks. Default: 1.3.
package func withTLSTestHost<Result>(
    certificate: TestCertificate? = nil,
    port: Int = 0,
    version: TLSVersion = .tlsv13,
    isolation: isolated (any Actor)? = #isolation,
    answer: @escaping TLSTestHost.Answer,
    _ body: (TLSTestHost) async throws -> Result
) async throws -> Result {
    let certificate = try certificate ?? TestCertificate()
    let context = try certificate.serverContext(oldest: version, newest: version)
    let script = TLSTestHost.Script(respond: answer)
    return try await withListener(
        port: port,
        accept: { channel in
            try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: context))
            return try FakeMacConnection(channel: channel)
        },
        serve: { await $0.serve(script) }
    ) {
        try await body(TLSTestHost(port: $0, certificate: certificate, script: script))
    }
}

extension FakeMacAction {
    /// A whole answer with a body of JSON.
    package static func json(_ status: Int, _ body: String) -> FakeMacAction {
        .send(
            "HTTP/1.1 \(status) Answer\r\nContent-Type: application/json\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
        )
    }

    /// The head of a stream of events that ends with its connection.
    package static var eventsHead: FakeMacAction {
        .send("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n")
    }

    /// One numbered frame.
    package static func frame(_ number: Int, _ json: String) -> FakeMacAction {
        .send("id: \(number)\ndata: \(json)\n\n")
    }
}
