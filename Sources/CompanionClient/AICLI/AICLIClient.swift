import AsyncHTTPClient
package import CompanionWire
import FoundationEssentials
package import Logging
import NIOCore
import NIOFoundationCompat
import NIOHTTP1

/// A client of one AICLI server: HTTP for requests, a WebSocket for turns. Connects to local addresses only.
package struct AICLIClient: Sendable {
    /// The server's address and port.
    package let endpoint: CompanionEndpoint
    /// The limits and timeouts of all requests.
    package let configuration: CompanionClientConfiguration
    /// Plain HTTP, or TLS with the certificate that was trusted when the server was paired.
    package let security: HostSecurity
    /// Gives full access to the server; nil if the server needs no token.
    let token: String?
    /// This device's id at the server, which stores the device's sessions under it.
    let deviceID: String
    let http: HTTPClient
    let logger: Logger

    /// Runs `body` with a client and closes its connections afterwards.
    ///
    /// - Parameters:
    ///   - security: Default: plain HTTP, which most servers use.
    ///   - deviceID: The id of this installation; never changes.
    /// - Throws: ``CompanionClientError/Code/refusedAddress``, before anything is sent, if the address is not local;
    ///   any error of `body`.
    package static func withClient<Result>(
        endpoint: CompanionEndpoint,
        security: HostSecurity = .plain,
        token: String?,
        deviceID: String,
        configuration: CompanionClientConfiguration = .default,
        logger: Logger = Logger(label: "aicli-client", factory: { _ in SwiftLogNoOpLogHandler() }),
        isolation: isolated (any Actor)? = #isolation,
        _ body: (AICLIClient) async throws -> Result
    ) async throws -> Result {
        try endpoint.requireLocal()
        guard token.map(AICLIPayload.isToken) ?? true else {
            throw CompanionClientError(
                .badRequest,
                message: "The token contains invalid characters.",
                delivery: .notSent
            )
        }
        var settings = HTTPClient.Configuration.host(at: .address(endpoint), timeouts: configuration.timeouts)
        if let certificate = security.certificate {
            settings.tlsConfiguration = try PinnedTLS.clientConfiguration(trusting: certificate)
        }
        return try await HTTPClient.withHTTPClient(configuration: settings) { http in
            try await body(
                AICLIClient(
                    endpoint: endpoint,
                    configuration: configuration,
                    security: security,
                    token: token,
                    deviceID: deviceID,
                    http: http,
                    logger: logger
                )
            )
        }
    }

    /// The headers that identify this device.
    var credentials: [(String, String)] {
        var headers = [("User-Agent", "pairtool"), ("x-device-id", deviceID)]
        if let token { headers.append(("Authorization", "Bearer \(token)")) }
        return headers
    }
}

extension AICLIClient {
    /// The answer to a request: a status and JSON.
    struct Answer: Sendable {
        var status: Int
        var value: JSONValue
    }

    func get(_ target: String, isAnonymous: Bool = false) async throws -> JSONValue {
        try await checked(ask(.GET, target: target, body: nil, isAnonymous: isAnonymous))
    }

    func post(_ target: String, body: JSONValue) async throws -> Answer {
        try await ask(.POST, target: target, body: body, isAnonymous: false)
    }

    func delete(_ target: String) async throws -> Answer {
        try await ask(.DELETE, target: target, body: nil, isAnonymous: false)
    }

    /// Throws the error for a status other than 2xx.
    func checked(_ answer: Answer) throws -> JSONValue {
        guard !(200..<300).contains(answer.status) else { return answer.value }
        let text = answer.value.text("message", "error") ?? answer.value["error"]?.text("message")
        let (code, message): (CompanionClientError.Code, String) =
            switch answer.status {
            case 401, 403: (.notPaired, "\(endpoint) rejected the token.")
            case 404: (.notFound, "Not found on \(endpoint).")
            case 413: (.tooLarge, "The request is too large for \(endpoint).")
            case 429: (.busy, "\(endpoint) has reached its request limit.")
            case 500...: (.server, "\(endpoint) failed with status \(answer.status).")
            case 300..<400: (.redirected, "\(endpoint) answered with a redirect, which was not followed.")
            default: (.badRequest, "\(endpoint) refused the request with status \(answer.status).")
            }
        throw CompanionClientError(code, message: message, hostText: text, httpStatus: answer.status)
    }

    private func ask(
        _ method: HTTPMethod,
        target: String,
        body: JSONValue?,
        isAnonymous: Bool
    ) async throws -> Answer {
        try await exchangeOnce(within: configuration.timeouts.request) {
            try await execute(method, target: target, body: body, isAnonymous: isAnonymous)
        } read: { response in
            let bytes = try await response.bytes(upTo: configuration.limits.body, from: endpoint)
            let status = Int(response.status.code)
            if response.isHTML || bytes.looksLikeHTML {
                // Servers of this family also answer unknown routes with an HTML page.
                guard status == 404 else { throw stranger(status) }
                return Answer(status: status, value: .null)
            }
            guard let value = JSONValue(lenient: Array(bytes.readableBytesView)) else {
                guard (200..<300).contains(status) else { return Answer(status: status, value: .null) }
                throw CompanionClientError(.badAnswer, message: "\(endpoint) did not answer with JSON.")
            }
            return Answer(status: status, value: value)
        } failure: {
            CompanionClientError.transport($0, endpoint: endpoint, answered: $1, timeouts: configuration.timeouts)
        }
    }

    func stranger(_ status: Int? = nil) -> CompanionClientError {
        CompanionClientError(
            .notACompanion,
            message: "The server on \(endpoint) is not an AICLI server.",
            httpStatus: status
        )
    }

    private func execute(
        _ method: HTTPMethod,
        target: String,
        body: JSONValue?,
        isAnonymous: Bool
    ) async throws -> HTTPClientResponse {
        var request = HTTPClientRequest(
            url: "\(security == .plain ? "http" : "https")://\(endpoint.authority)\(target)"
        )
        request.method = method
        request.headers.add(name: "Accept", value: "application/json")
        for (name, value) in credentials where !isAnonymous || name == "User-Agent" {
            request.headers.add(name: name, value: value)
        }
        if let body {
            request.headers.add(name: "Content-Type", value: "application/json")
            request.body = .bytes(ByteBuffer(bytes: body.json))
        }
        let response = try await http.execute(
            request,
            deadline: .now() + TimeAmount(configuration.timeouts.request),
            logger: logger.withoutBodies
        )
        logger.debug("answered", metadata: ["target": "\(target)", "status": "\(response.status.code)"])
        return response
    }
}
