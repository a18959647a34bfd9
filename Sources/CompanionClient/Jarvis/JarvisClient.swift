import AsyncHTTPClient
package import CompanionWire
import FoundationEssentials
package import Logging
import NIOConcurrencyHelpers
import NIOCore
import NIOFoundationCompat
import NIOHTTP1

/// A client of one Jarvis daemon: its requests for approval, read and decided.
///
/// Speaks to the local address; to the second base URL only where one is configured and nothing answers at the address.
/// Follows no redirects, sends no more than 16 KiB, takes no more than its limits allow, and knows no way to have the
/// daemon execute a command.
package struct JarvisClient: Sendable {
    /// The most bytes of a request's body: daemons refuse more (jarvis).
    static let bodyLimit = 16 << 10

    /// The limits and timeouts of all requests.
    package let configuration: CompanionClientConfiguration
    let local: JarvisBase
    let fallback: JarvisBase?
    /// The token that the daemon, or a proxy in front of it, requires with every request; nil if none is required.
    let token: String?
    let http: HTTPClient
    let logger: Logger
    private let inUse: NIOLockedValueBox<JarvisBase>

    /// The base URL that is in use now.
    package var base: JarvisBase { inUse.withLockedValue { $0 } }

    /// Whether that is the second base URL.
    package var usesFallback: Bool { base != local }

    /// Runs `body` with a client, and closes its connections behind it.
    ///
    /// - Parameters:
    ///   - endpoint: Where the daemon is looked for first.
    ///   - fallback: The second base URL. Default: none.
    ///   - token: Sent as a bearer token with every request, to either base URL. Default: none.
    /// - Throws: ``CompanionClientError/Code/refusedAddress`` before anything is sent when the address is not local;
    ///   where there is a second base URL and neither answers, what kept the first from answering; what `body` throws.
    package static func withClient<Result>(
        endpoint: CompanionEndpoint,
        fallback: JarvisBase? = nil,
        token: String? = nil,
        configuration: CompanionClientConfiguration = .default,
        logger: Logger = Logger(label: "jarvis-client", factory: { _ in SwiftLogNoOpLogHandler() }),
        isolation: isolated (any Actor)? = #isolation,
        _ body: (JarvisClient) async throws -> Result
    ) async throws -> Result {
        try endpoint.requireLocal()
        var settings = HTTPClient.Configuration.host(at: .address(endpoint), timeouts: configuration.timeouts)
        if let names = fallback?.endpoint?.nameOverrides { settings.dnsOverride.merge(names) { $1 } }
        return try await HTTPClient.withHTTPClient(configuration: settings) { http in
            let local = JarvisBase(endpoint)
            let client = JarvisClient(
                configuration: configuration,
                local: local,
                // Without a second one, nothing changes where the daemon is spoken to.
                fallback: configuration.via == nil ? fallback : nil,
                token: token,
                http: http,
                logger: logger,
                inUse: NIOLockedValueBox(configuration.via == .cloud ? fallback ?? local : local)
            )
            try await client.locate()
            return try await body(client)
        }
    }

    /// Finds out which base URL answers, the local one first. Without a second one nothing is asked.
    package func locate() async throws {
        guard let fallback else { return }
        do {
            _ = try await at(local).daemonHealth()
            use(local)
        } catch let error as CompanionClientError where [.unreachable, .timedOut].contains(error.code) {
            do {
                _ = try await at(fallback).daemonHealth()
                use(fallback)
            } catch let other as CompanionClientError {
                use(local)
                logger.debug("the second base URL fails too", metadata: ["error": "\(other)"])
                throw error
            }
        }
    }

    /// Goes back from the second base URL to the local address, where the daemon answers there again.
    ///
    /// - Returns: Whether it did.
    func returnToLocal() async throws -> Bool {
        guard fallback != nil, usesFallback else { return false }
        do {
            _ = try await at(local).daemonHealth()
        } catch let error as CompanionClientError {
            logger.debug("the local address is not back", metadata: ["error": "\(error)"])
            return false
        }
        use(local)
        return true
    }

    /// A client that stays with a base URL, whatever is found out meanwhile.
    func at(_ base: JarvisBase) -> JarvisClient {
        JarvisClient(
            configuration: configuration,
            local: base,
            fallback: nil,
            token: token,
            http: http,
            logger: logger,
            inUse: NIOLockedValueBox(base)
        )
    }

    private func use(_ base: JarvisBase) {
        inUse.withLockedValue { $0 = base }
    }
}

extension JarvisClient {
    /// Sends a request and decodes its JSON answer.
    ///
    /// - Parameter path: Behind the prefix; made of fixed words and UUIDs alone.
    func json<Answer: Decodable>(
        _ method: HTTPMethod,
        path: String,
        body: (any Encodable & Sendable)? = nil,
        as: Answer.Type
    ) async throws -> Answer {
        let base = base
        let content = try body.map { try JSONEncoder().encode($0) }
        if let content, content.count > Self.bodyLimit {
            throw CompanionClientError(
                .tooLarge,
                message:
                    "The request has \(content.count) bytes; Jarvis daemons take \(Self.bodyLimit). Nothing was sent.",
                delivery: .notSent
            )
        }
        let answer = try await exchange(method, path: path, body: content, at: base)
        do {
            return try JSONDecoder().decode(Answer.self, from: CompanionJSON.repaired(Data(buffer: answer)))
        } catch {
            throw CompanionClientError(
                .badAnswer,
                message: "\(base) answered with unexpected JSON.",
                underlying: error
            )
        }
    }

    private static let reach = "check that the daemon is running and that its address, or the tunnel to it, is right"
    private static let giveToken = "pair again with it: pairtool pair --family jarvis --url URL --token-file FILE"
    static let findPort =
        "check the daemon's address and port (default \(JarvisBase.defaultPort))"

    /// A GET that is lost is sent once more; nothing else is ever sent twice.
    private func exchange(
        _ method: HTTPMethod,
        path: String,
        body: Data?,
        at base: JarvisBase
    ) async throws -> ByteBuffer {
        try await repeatingLost(path, if: method == .GET, logger: logger) {
            try await exchangeOnce(within: configuration.timeouts.request) {
                try await execute(method, path: path, body: body, at: base)
            } read: {
                try await read($0, at: base)
            } failure: {
                let failure = CompanionClientError.transport(
                    $0,
                    endpoint: base,
                    answered: $1,
                    timeouts: configuration.timeouts
                )
                guard var error = failure as? CompanionClientError, error.code == .unreachable else { return failure }
                // Nothing finds a daemon by mDNS.
                error.advice = Self.reach
                return error
            }
        }
    }

    private func execute(
        _ method: HTTPMethod,
        path: String,
        body: Data?,
        at base: JarvisBase
    ) async throws -> HTTPClientResponse {
        var message = HTTPClientRequest(url: base.origin + JarvisBase.prefix + path)
        message.method = method
        message.headers.add(name: "Accept", value: "application/json")
        message.headers.add(name: "User-Agent", value: "pairtool")
        if let token { message.headers.add(name: "Authorization", value: "Bearer \(token)") }
        if let body {
            message.headers.add(name: "Content-Type", value: "application/json")
            message.body = .bytes(ByteBuffer(data: body))
        }
        let limit = TimeAmount(configuration.timeouts.request)
        let response = try await http.execute(message, deadline: .now() + limit, logger: logger.withoutBodies)
        logger.debug(
            "answered",
            metadata: ["method": "\(method)", "path": "\(path)", "status": "\(response.status.code)"]
        )
        return response
    }

    private func read(_ response: HTTPClientResponse, at base: JarvisBase) async throws -> ByteBuffer {
        let status = Int(response.status.code)
        guard (200..<300).contains(status) else {
            // 64 KiB hold any refusal.
            let body = (try? await response.bytes(upTo: 64 << 10, from: base)) ?? ByteBuffer()
            try Task.checkCancellation()
            let isPage = response.isHTML || body.looksLikeHTML
            let reason = try? JSONDecoder().decode(JarvisRefusal.self, from: CompanionJSON.repaired(Data(buffer: body)))
                .reason
            var error = Self.refusal(status, reason: isPage ? nil : reason, isPage: isPage, at: base)
            if status == 401 {
                error.message = token == nil ? "\(base) needs a token." : "\(base) rejected the token."
                error.advice = Self.giveToken
            }
            throw error
        }
        let body = try await response.bytes(upTo: configuration.limits.body, from: base)
        guard !response.isHTML, !body.looksLikeHTML else { throw Self.stranger(status, at: base) }
        return body
    }

    /// Returns the error for a status other than 2xx (jarvis, Errors).
    private static func refusal(_ status: Int, reason: String?, isPage: Bool, at base: JarvisBase)
        -> CompanionClientError
    {
        func error(_ code: CompanionClientError.Code, message: String) -> CompanionClientError {
            CompanionClientError(code, message: message, hostText: reason, httpStatus: status)
        }
        return switch status {
        case 300..<400: error(.redirected, message: "\(base) answered with a redirect, which was not followed.")
        case 404 where reason != nil: error(.notFound, message: "\(base) does not have that.")
        case 401: error(.forbidden, message: "\(base) needs a token.")
        case _ where isPage, 404: stranger(status, at: base)
        case 403: error(.forbidden, message: "\(base) does not allow that.")
        case 413: error(.tooLarge, message: "The request is too large for \(base).")
        case 500...: error(.server, message: "\(base) failed with status \(status).")
        default: error(.badRequest, message: "\(base) refused the request with status \(status).")
        }
    }

    private static func stranger(_ status: Int, at base: JarvisBase) -> CompanionClientError {
        var error = CompanionClientError(
            .notACompanion,
            message: "The server on \(base) is not a Jarvis daemon (status \(status)).",
            httpStatus: status
        )
        error.advice = findPort
        return error
    }
}
