import AsyncHTTPClient
package import CompanionWire
package import Logging
import NIOConcurrencyHelpers
import NIOCore

/// A client of one host of the CopilotForge family, protocols v1 and v2.
///
/// Uses HTTP/1.1, follows no redirects, and reads no more than its limits allow. Without a key that proves the host, it
/// connects to local addresses only.
/// Protocol v1 has no credentials; with v2 the client uses TLS with a pinned key and sends a session token.
package struct CompanionAPIClient: Sendable {
    /// The way that the connections go.
    let line: HostLine
    /// The limits and timeouts of all requests.
    package let configuration: CompanionClientConfiguration
    /// How the connection is protected: not at all with v1, by a pinned key with v2.
    package let security: HostSecurity
    let session: SessionTokenCache?
    let http: HTTPClient
    let logger: Logger
    /// Measures the pauses between retries.
    let clock: any Clock<Duration>
    let offset = NIOLockedValueBox<Duration?>(nil)
    /// The items in the host's lists that could not be read.
    package let leftOut = LeftOutItems()

    private init(
        line: HostLine,
        configuration: CompanionClientConfiguration,
        security: HostSecurity,
        credentials: (any DeviceCredentials)?,
        http: HTTPClient,
        logger: Logger,
        clock: any Clock<Duration>
    ) {
        self.line = line
        self.configuration = configuration
        self.security = security
        self.session = credentials.map(SessionTokenCache.init)
        self.http = http
        self.logger = logger
        self.clock = clock
    }

    /// The target of the next connection: the host, as messages name it.
    package var target: ClientTarget { line.target }

    /// How far the host's clock is ahead of this machine's (negative: behind), from the `Date` header of the last
    /// answer.
    ///
    /// Accurate to about a second, because the header has whole seconds. nil until a host has sent one.
    package var clockOffset: Duration? {
        offset.withLockedValue { $0 }
    }

    /// Runs `body` with a client and closes its connections afterwards.
    ///
    /// - Parameters:
    ///   - security: Default: plain HTTP, as in protocol v1.
    ///   - credentials: This device's credentials for the host; used only on a pinned connection. Default: nil, none.
    ///   - clock: Measures the pauses between retries.
    /// - Throws: ``CompanionClientError/Code/refusedAddress``, before anything is sent, if the address is not loopback,
    ///   link-local, private or in a VPN mesh; any error of `body`.
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
        return try await withClient(
            line: HostLine(.address(endpoint)),
            security: security,
            credentials: credentials,
            configuration: configuration,
            logger: logger,
            clock: clock,
            body
        )
    }

    /// Runs `body` with a client whose connections go where a line leads.
    ///
    /// - Throws: ``CompanionClientError/Code/refusedAddress`` as above for a host without a key; any error of `body`.
    package static func withClient<Result>(
        line: HostLine,
        security: HostSecurity,
        credentials: (any DeviceCredentials)? = nil,
        configuration: CompanionClientConfiguration = .default,
        logger: Logger = Logger(label: "companion-client", factory: { _ in SwiftLogNoOpLogHandler() }),
        clock: any Clock<Duration> = ContinuousClock(),
        isolation: isolated (any Actor)? = #isolation,
        _ body: (CompanionAPIClient) async throws -> Result
    ) async throws -> Result {
        let target = line.target
        try target.requireAllowed(with: security)
        var configuration = configuration
        // A host that does not answer at its address is looked for elsewhere, and may be reached through a tunnel then.
        if line.canMove { configuration.timeouts.connect = .seconds(8) }
        configuration.timeouts = target.allowing(configuration.timeouts)
        if security != .plain {
            // v2 streams have a comment every 15 s; v1 streams are silent for as long as the model thinks.
            configuration.timeouts.idle = min(configuration.timeouts.idle, configuration.timeouts.silence)
        }
        let limits = configuration
        var settings = HTTPClient.Configuration.host(at: target, timeouts: configuration.timeouts)
        if line.canMove {
            settings.http1_1ConnectionDebugInitializer = { channel in
                line.register(channel)
                return channel.eventLoop.makeSucceededVoidFuture()
            }
        }
        if let certificate = security.certificate {
            settings.tlsConfiguration = try PinnedTLS.clientConfiguration(trusting: certificate)
        }
        return try await HTTPClient.withHTTPClient(configuration: settings) { http in
            try await body(
                CompanionAPIClient(
                    line: line,
                    configuration: limits,
                    security: security,
                    // Without TLS, anyone on the network could read the token.
                    credentials: security == .plain ? nil : credentials,
                    http: http,
                    logger: logger,
                    clock: clock
                )
            )
        }
    }
}
