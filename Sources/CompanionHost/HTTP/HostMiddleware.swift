import CompanionWire
import Glibc
import HTTPTypes
import Hummingbird
import Logging

/// Turns every error into a JSON answer. It comes before all middleware that refuses requests.
struct ErrorMiddleware: RouterMiddleware {
    let clock: HostClock
    /// The host's logger: a request's own one is as quiet as the server's library.
    let logger: Logger

    func handle(
        _ request: Request,
        context: HostRequestContext,
        next: (Request, HostRequestContext) async throws -> Response
    ) async throws -> Response {
        let isHead = request.method == .head
        do {
            return try await next(request, context)
        } catch {
            var answer = HostResponseError(describing: error)
            // What v1 answers stays what it is.
            if answer.code == nil, VersionGate.version(of: request) == 2 { answer.code = answer.codeOfStatus }
            if !(error is HostResponseError), !(error is HostError), answer.status.code >= 500 {
                logger.error("request failed", metadata: .failure(error))
            }
            return answer.response(isHead: isHead, serverTime: clock.now())
        }
    }
}

/// Refuses requests that a browser sends on behalf of a web page: with an `Origin`, or with a `Host` that is not a
/// name of this machine (DNS rebinding).
struct BrowserGuard: RouterMiddleware {
    private let names: Set<String>

    /// - Parameter hostName: This machine's name.
    init(hostName: String = BrowserGuard.systemHostName()) {
        let full = hostName.lowercased()
        let label = full.parts(".").first.map(String.init) ?? full
        names = ["localhost", full, label, label + ".local", full + ".local"]
    }

    func handle(
        _ request: Request,
        context: HostRequestContext,
        next: (Request, HostRequestContext) async throws -> Response
    ) async throws -> Response {
        guard request.headers[.origin] == nil else {
            throw HostResponseError(.forbidden, "Requests from web pages are refused")
        }
        // Browsers always send a host; HTTP/1.0 clients need not.
        if let host = request.head.authority, !host.isEmpty, !accepts(host: host) {
            throw HostResponseError(.forbidden, "This host answers to its own names and addresses only")
        }
        return try await next(request, context)
    }

    /// Whether a `Host` header's value names this machine: an address, `localhost`, its name, its name with `.local`.
    func accepts(host: String) -> Bool {
        if CompanionEndpoint(host, defaultPort: 80) != nil { return true }
        var name = Substring(host)
        name = name.cut(atLast: ":")?.before ?? name
        name = name.dropping(suffix: ".") ?? name
        return names.contains(name.lowercased())
    }

    static func systemHostName() -> String {
        var buffer = [CChar](repeating: 0, count: 256)
        guard gethostname(&buffer, buffer.count - 1) == 0 else { return "localhost" }
        return String(decoding: buffer.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}

/// Tells a client that the connection ends: where it asked for that, and where its request for an upgrade got another
/// answer, for NIO's parser reads nothing behind such a request, so that the next one would never be answered.
struct UpgradeMiddleware: RouterMiddleware {
    func handle(
        _ request: Request,
        context: HostRequestContext,
        next: (Request, HostRequestContext) async throws -> Response
    ) async throws -> Response {
        var response = try await next(request, context)
        let isLast = request.headers[.upgrade] != nil || request.headers[.connection] == "close"
        if isLast, response.status != .switchingProtocols {
            let others = response.headers[.connection].map { $0 + ", " } ?? ""
            response.headers[.connection] = others + "close"
        }
        return response
    }
}
