import AsyncHTTPClient
package import CompanionWire
package import Logging
import NIOConcurrencyHelpers
import NIOCore

/// A client of one host of the CopilotForge family, protocol v1.
///
/// Speaks HTTP/1.1 to local addresses only, follows no redirects, and takes no more than its limits allow. It sends no
/// credentials, because v1 has none.
package struct CompanionAPIClient: Sendable {
    package let endpoint: CompanionEndpoint
    package let configuration: CompanionClientConfiguration
    let http: HTTPClient
    let logger: Logger
    let offset = NIOLockedValueBox<Duration?>(nil)

    private init(
        endpoint: CompanionEndpoint,
        configuration: CompanionClientConfiguration,
        http: HTTPClient,
        logger: Logger
    ) {
        self.endpoint = endpoint
        self.configuration = configuration
        self.http = http
        self.logger = logger
    }

    /// How far the host's clock is ahead of ours (negative: behind), by the last answer's `Date` header.
    ///
    /// Right to about a second, since the header has whole seconds. Nil until a host has sent one.
    package var clockOffset: Duration? {
        offset.withLockedValue { $0 }
    }

    /// Runs `body` with a client, and closes its connections behind it.
    ///
    /// - Throws: ``CompanionClientError/Code/refusedAddress`` before anything is sent when the address is not loopback,
    ///   link-local, private or of a VPN mesh; what `body` throws.
    package static func withClient<Result>(
        endpoint: CompanionEndpoint,
        configuration: CompanionClientConfiguration = .default,
        logger: Logger = Logger(label: "companion-client", factory: { _ in SwiftLogNoOpLogHandler() }),
        isolation: isolated (any Actor)? = #isolation,
        _ body: (CompanionAPIClient) async throws -> Result
    ) async throws -> Result {
        try checkAddress(of: endpoint)
        return try await HTTPClient.withHTTPClient(
            configuration: httpConfiguration(endpoint: endpoint, configuration: configuration)
        ) { http in
            try await body(
                CompanionAPIClient(endpoint: endpoint, configuration: configuration, http: http, logger: logger)
            )
        }
    }

    private static func checkAddress(of endpoint: CompanionEndpoint) throws {
        func refuse(_ why: String) -> CompanionClientError {
            CompanionClientError(.refusedAddress, "\(endpoint) \(why). Nothing was sent.", delivery: .notSent)
        }
        let address = endpoint.address
        guard address.isLocal else {
            throw refuse("is not a local address: companions are spoken to on this machine, its networks or a VPN only")
        }
        guard (1...65535).contains(endpoint.port) else { throw refuse("has no valid port") }
        guard !address.isIPv6 || address.scope != .linkLocal || address.unmapped != address || address.zone != nil
        else {
            throw refuse("is link-local and needs its interface, as in fe80::1%eth0")
        }
    }

    static func httpConfiguration(
        endpoint: CompanionEndpoint,
        configuration: CompanionClientConfiguration
    ) -> HTTPClient.Configuration {
        let timeouts = configuration.timeouts
        var http = HTTPClient.Configuration(
            redirectConfiguration: .disallow,
            timeout: .init(connect: TimeAmount(timeouts.connect), read: TimeAmount(timeouts.idle)),
            decompression: .disabled
        )
        http.httpVersion = .http1Only
        // Deployed hosts (Node) close idle connections after 5 s: ours go earlier, so that no request meets a closing
        // one.
        http.connectionPool.idleTimeout = .seconds(3)
        // A refused connection is an answer, not a reason to try until the time is up.
        http.connectionPool.retryConnectionEstablishment = false
        http.dnsOverride = endpoint.nameOverrides
        return http
    }
}

extension CompanionEndpoint {
    /// The address without its zone or brackets.
    var unscopedAddress: String {
        IPAddress(bytes: address.bytes)?.description ?? ""
    }

    /// `http://192.168.1.5:7878` or `http://[fe80::1]:7878`: without a zone.
    var origin: String {
        "http://\(address.isIPv6 ? "[\(unscopedAddress)]" : unscopedAddress):\(port)"
    }

    /// What the connection is made to in place of the URL's host.
    ///
    /// A zone has no place in a URL of the HTTP library nor in a Host header (RFC 6874, section 1): the URL goes
    /// without, and the connection goes to the address with its zone, which the system's resolver reads.
    var nameOverrides: [String: String] {
        guard let zone = address.zone else { return [:] }
        return ["[\(unscopedAddress)]": "\(unscopedAddress)%\(zone)"]
    }
}
