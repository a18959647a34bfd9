import AsyncHTTPClient
package import CompanionWire
package import Logging
import NIOConcurrencyHelpers
import NIOCore

/// A client of one host of the CopilotForge family, protocols v1 and v2.
///
/// Speaks HTTP/1.1 to local addresses only, follows no redirects, and takes no more than its limits allow. By v1 it sends no
/// credentials, because v1 has none; by v2 it speaks TLS with a pinned key and sends a session's token.
package struct CompanionAPIClient: Sendable {
    package let endpoint: CompanionEndpoint
    package let configuration: CompanionClientConfiguration
    package let security: HostSecurity
    let session: SessionKeeper?
    let http: HTTPClient
    let logger: Logger
    let offset = NIOLockedValueBox<Duration?>(nil)

    private init(
        endpoint: CompanionEndpoint,
        configuration: CompanionClientConfiguration,
        security: HostSecurity,
        credentials: (any DeviceCredentials)?,
        http: HTTPClient,
        logger: Logger
    ) {
        self.endpoint = endpoint
        self.configuration = configuration
        self.security = security
        self.session = credentials.map(SessionKeeper.init)
        self.http = http
        self.logger = logger
    }

    /// `http://192.168.1.5:7878` or `https://[fe80::1]:7879`: without a zone.
    var origin: String {
        "\(security == .plain ? "http" : "https")://\(endpoint.authority)"
    }

    /// How far the host's clock is ahead of ours (negative: behind), by the last answer's `Date` header.
    ///
    /// Right to about a second, since the header has whole seconds. Nil until a host has sent one.
    package var clockOffset: Duration? {
        offset.withLockedValue { $0 }
    }

    /// Runs `body` with a client, and closes its connections behind it.
    ///
    /// - Parameters:
    ///   - security: Default: plain HTTP, by protocol v1.
    ///   - credentials: Who this device is to the host; used on a pinned connection only. Default: nil, nobody.
    /// - Throws: ``CompanionClientError/Code/refusedAddress`` before anything is sent when the address is not loopback,
    ///   link-local, private or of a VPN mesh; what `body` throws.
    package static func withClient<Result>(
        endpoint: CompanionEndpoint,
        security: HostSecurity = .plain,
        credentials: (any DeviceCredentials)? = nil,
        configuration: CompanionClientConfiguration = .default,
        logger: Logger = Logger(label: "companion-client", factory: { _ in SwiftLogNoOpLogHandler() }),
        isolation: isolated (any Actor)? = #isolation,
        _ body: (CompanionAPIClient) async throws -> Result
    ) async throws -> Result {
        try checkAddress(of: endpoint)
        return try await HTTPClient.withHTTPClient(
            configuration: httpConfiguration(endpoint: endpoint, security: security, configuration: configuration)
        ) { http in
            try await body(
                CompanionAPIClient(
                    endpoint: endpoint,
                    configuration: configuration,
                    security: security,
                    // A token on an open line would be anybody's.
                    credentials: security == .plain ? nil : credentials,
                    http: http,
                    logger: logger
                )
            )
        }
    }

    static func checkAddress(of endpoint: CompanionEndpoint) throws {
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
        security: HostSecurity,
        configuration: CompanionClientConfiguration
    ) throws -> HTTPClient.Configuration {
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
        if let certificate = security.certificate {
            http.tlsConfiguration = try PinnedTLS.clientConfiguration(trusting: certificate)
        }
        return http
    }
}

extension CompanionEndpoint {
    /// The address without its zone or brackets.
    var unscopedAddress: String {
        IPAddress(bytes: address.bytes)?.description ?? ""
    }

    /// `192.168.1.5:7878` or `[fe80::1]:7878`: without a zone.
    var authority: String {
        "\(address.isIPv6 ? "[\(unscopedAddress)]" : unscopedAddress):\(port)"
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
