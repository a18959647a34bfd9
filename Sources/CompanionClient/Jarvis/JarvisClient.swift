import AsyncHTTPClient
package import CompanionWire
package import Logging
import NIOConcurrencyHelpers

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
        var settings = HTTPClient.Configuration.local(endpoint, timeouts: configuration.timeouts)
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
