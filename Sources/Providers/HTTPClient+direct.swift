package import AsyncHTTPClient
import NIOCore

extension HTTPClient.Configuration {
    /// Plain HTTP/1.1: follows no redirect and unpacks no body.
    ///
    /// - Parameters:
    ///   - connect: For a connection to stand.
    ///   - idle: For the next byte.
    package static func direct(connect: Duration, idle: Duration) -> HTTPClient.Configuration {
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
}
