import AsyncHTTPClient
import CompanionWire
import Glibc
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL

/// Posts JSON, each time over a connection of its own. Follows no redirect, uses no proxy and reads no body.
package struct JSONPost: Sendable {
    /// How a request ended.
    package enum Outcome: Sendable, Hashable {
        /// The status of the answer, and its `Retry-After` in seconds.
        case answered(Int, retryAfter: Int?)
        /// No connection stands, so nothing was sent.
        case unreached
        /// The server's certificate is not valid, so nothing was sent.
        case badCertificate
        /// The server does not speak TLS there, so nothing was sent.
        case noTLS
        /// The request was sent, and no answer came in time.
        case unanswered
        /// The request was sent, and something else than an answer came, or the end of the connection.
        case broken
    }

    private let http: HTTPClient
    private let limit: Duration

    /// Runs a body with a client. Connections that are being made when it ends are left to end by themselves: nobody waits
    /// for them.
    ///
    /// - Parameter limit: How long a server may take until it answers. Half of that is for the connection.
    package static func withClient<Result>(
        limit: Duration,
        isolation: isolated (any Actor)? = #isolation,
        _ body: (JSONPost) async throws -> Result
    ) async rethrows -> Result {
        var configuration = HTTPClient.Configuration.direct(connect: limit / 2, idle: limit)
        configuration.connectionPool.idleTimeout = .zero
        let http = HTTPClient(eventLoopGroup: .singletonMultiThreadedEventLoopGroup, configuration: configuration)
        defer { Task { try? await http.shutdown() } }
        return try await body(JSONPost(http: http, limit: limit))
    }

    /// - Parameter token: Sent as a bearer token.
    /// - Throws: `CancellationError`.
    package func post(_ body: [UInt8], to url: String, token: ProviderKey?) async throws -> Outcome {
        var request = HTTPClientRequest(url: url)
        request.method = .POST
        request.headers.add(name: "Content-Type", value: "application/json")
        request.headers.add(name: "User-Agent", value: "pairtool")
        request.headers.add(name: "Connection", value: "close")
        if let token { request.headers.add(name: "Authorization", value: "Bearer \(token.value)") }
        request.body = .bytes(body)
        do {
            let response = try await http.execute(request, timeout: TimeAmount(limit))
            let wait = response.headers.first(name: "Retry-After").flatMap { Int($0) }
            return .answered(Int(response.status.code), retryAfter: wait)
        } catch {
            try Task.checkCancellation()
            return Self.outcome(of: error)
        }
    }

    private static func outcome(of error: any Error) -> Outcome {
        switch error {
        case is NIOSSLExtraError: .badCertificate
        case is NIOSSLError, is BoringSSLError:
            "\(error)".has("CERTIFICATE_VERIFY_FAILED") ? .badCertificate : .noTLS
        case is NIOConnectionError: .unreached
        case let error as HTTPClientError where [.connectTimeout, .tlsHandshakeTimeout].contains(error): .unreached
        case let error as IOError where [ECONNREFUSED, EHOSTUNREACH, ENETUNREACH].contains(error.errnoCode): .unreached
        case let error as HTTPClientError where [.deadlineExceeded, .readTimeout].contains(error): .unanswered
        default: .broken
        }
    }
}
