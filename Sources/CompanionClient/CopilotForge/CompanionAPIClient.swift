import AsyncHTTPClient
package import CompanionWire
package import Logging
import NIOConcurrencyHelpers

/// A client of one host of the CopilotForge family, protocols v1 and v2.
///
/// Speaks HTTP/1.1 to local addresses only, follows no redirects, and takes no more than its limits allow. By v1 it
/// sends no credentials, because v1 has none; by v2 it speaks TLS with a pinned key and sends a session's token.
package struct CompanionAPIClient: Sendable {
    package let endpoint: CompanionEndpoint
    package let configuration: CompanionClientConfiguration
    package let security: HostSecurity
    let session: SessionTokenCache?
    let http: HTTPClient
    let logger: Logger
    /// Measures the waits between two tries of a request.
    let clock: any Clock<Duration>
    let offset = NIOLockedValueBox<Duration?>(nil)
    /// What could not be read in the lists of the host so far.
    package let leftOut = LeftOutItems()

    private init(
        endpoint: CompanionEndpoint,
        configuration: CompanionClientConfiguration,
        security: HostSecurity,
        credentials: (any DeviceCredentials)?,
        http: HTTPClient,
        logger: Logger,
        clock: any Clock<Duration>
    ) {
        self.endpoint = endpoint
        self.configuration = configuration
        self.security = security
        self.session = credentials.map(SessionTokenCache.init)
        self.http = http
        self.logger = logger
        self.clock = clock
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
    ///   - clock: Measures the waits between two tries of a request.
    /// - Throws: ``CompanionClientError/Code/refusedAddress`` before anything is sent when the address is not loopback,
    ///   link-local, private or of a VPN mesh; what `body` throws.
    package static func withClient<Result>(
        endpoint: CompanionEndpoint,
        security: HostSecurity = .plain,
        credentials: (any DeviceCredentials)? = nil,
        configuration: CompanionClientConfiguration = .default,
        logger: Logger = Logger(label: "companion-client", factory: { _ in SwiftLogNoOpLogHandler() }),
        clock: any Clock<Duration> = ContinuousClock(),
        isolation: isolated (any Actor)? = #isolation,
        _ body: (CompanionAPIClient) async throws -> Result
    ) async throws -> Result {
        try endpoint.requireLocal()
        var configuration = configuration
        if security != .plain {
            // Streams of v2 have a comment every 15 s, those of v1 are silent for as long as the model thinks.
            configuration.timeouts.idle = min(configuration.timeouts.idle, configuration.timeouts.silence)
        }
        let limits = configuration
        var settings = HTTPClient.Configuration.local(endpoint, timeouts: configuration.timeouts)
        if let certificate = security.certificate {
            settings.tlsConfiguration = try PinnedTLS.clientConfiguration(trusting: certificate)
        }
        return try await HTTPClient.withHTTPClient(configuration: settings) { http in
            try await body(
                CompanionAPIClient(
                    endpoint: endpoint,
                    configuration: limits,
                    security: security,
                    // A token on an open line would be anybody's.
                    credentials: security == .plain ? nil : credentials,
                    http: http,
                    logger: logger,
                    clock: clock
                )
            )
        }
    }
}
