import AsyncHTTPClient
import CompanionWire
package import Logging
import NIOCore

extension HTTPClient.Configuration {
    /// HTTP/1.1 with whoever is asked: no redirect is followed and no body unpacked.
    ///
    /// - Parameters:
    ///   - connect: For a connection to stand.
    ///   - idle: For the next byte.
    static func direct(connect: Duration, idle: Duration) -> HTTPClient.Configuration {
        var http = HTTPClient.Configuration(
            redirectConfiguration: .disallow,
            timeout: .init(connect: TimeAmount(connect), read: TimeAmount(idle)),
            decompression: .disabled
        )
        http.httpVersion = .http1Only
        // A refused connection is an answer, not a reason to try until the time is up.
        http.connectionPool.retryConnectionEstablishment = false
        return http
    }

    /// The same with a host at a local address.
    static func local(
        _ endpoint: CompanionEndpoint,
        timeouts: CompanionClientConfiguration.Timeouts
    ) -> HTTPClient.Configuration {
        var http = direct(connect: timeouts.connect, idle: timeouts.idle)
        // Deployed hosts (Node) close idle connections after 5 s: ours go earlier, so that no request meets a closing
        // one.
        http.connectionPool.idleTimeout = .seconds(3)
        http.dnsOverride = endpoint.nameOverrides
        return http
    }
}

extension Logger {
    /// What the HTTP library may log with. At `trace` it writes every part of an answer, and prompts, answers and
    /// tokens are in them.
    package var withoutBodies: Logger {
        var logger = self
        logger.logLevel = max(logLevel, .debug)
        return logger
    }
}
