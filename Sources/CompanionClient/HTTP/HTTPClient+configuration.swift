import AsyncHTTPClient
import CompanionWire
package import Logging
import NIOCore
import Providers

extension HTTPClient.Configuration {
    /// HTTP/1.1 with a host.
    static func host(
        at target: ClientTarget,
        timeouts: CompanionClientConfiguration.Timeouts
    ) -> HTTPClient.Configuration {
        var http = direct(connect: timeouts.connect, idle: timeouts.idle)
        // Deployed hosts (Node) close idle connections after 5 s: ours go earlier, so that no request meets a closing
        // one.
        http.connectionPool.idleTimeout = .seconds(3)
        http.dnsOverride = target.nameOverrides
        return http
    }
}

extension Logger {
    /// A logger that is safe for the HTTP library. At `trace`, the library logs every part of an answer, and with it
    /// prompts, answers and tokens, so this logger is limited to `debug`.
    package var withoutBodies: Logger {
        var logger = self
        logger.logLevel = max(logLevel, .debug)
        return logger
    }
}
