import CompanionWire
import HTTPTypes
import Hummingbird

/// Lets requests pass by the protocol that they speak and the way that they come.
///
/// `GET /health` and `GET /companion/status` are for everybody. Everything else of v1 is for hosts that were started
/// for it; v2 is for HTTPS. A request that is refused gets 426, with the versions that would be served.
struct VersionGate: RouterMiddleware {
    /// Whether the requests come by HTTPS.
    let isSecure: Bool
    /// Whether v1 is served.
    let legacy: Bool

    func handle(
        _ request: Request,
        context: HostRequestContext,
        next: (Request, HostRequestContext) async throws -> Response
    ) async throws -> Response {
        var context = context
        context.isSecure = isSecure
        let path = request.uri.path
        guard let version = Self.version(of: request) else {
            // A client of any version may ask which versions there are.
            guard path == "/health" else {
                throw refusal("This host does not speak that version of the protocol: update whichever side is older")
            }
            return try await next(request, context)
        }
        context.version = version
        let isOpen = [.get, .head].contains(request.method) && (path == "/health" || path == "/companion/status")
        // Over a relay, only what proves itself is served.
        if version == 1, !legacy || context.relayID != nil, !isOpen {
            throw refusal(
                "This host speaks version 2 over HTTPS. Update the companion, or start the host with --legacy"
            )
        }
        if version == 2, !isSecure, !isOpen { throw refusal(Self.httpsRequired.text) }
        return try await next(request, context)
    }

    /// The answer to a request of v1, or over plain HTTP, for something that v2 alone has.
    static let httpsRequired = {
        var error = HostResponseError(
            .upgradeRequired,
            "Version 2 is spoken over HTTPS only: GET /health tells the port",
            code: .versionUnsupported
        )
        error.versions = 2...ProtocolVersion.maximum
        return error
    }()

    /// The version that a request speaks; nil for one that this host does not.
    static func version(of request: Request) -> Int? {
        guard let text = request.headers[.companionVersion] else { return ProtocolVersion.minimum }
        guard let version = Int(text), String(version) == text,
            (ProtocolVersion.minimum...ProtocolVersion.maximum).contains(version)
        else { return nil }
        return version
    }

    private func refusal(_ text: String) -> HostResponseError {
        var error = HostResponseError(.upgradeRequired, text, code: .versionUnsupported)
        error.versions = (legacy ? ProtocolVersion.minimum : 2)...ProtocolVersion.maximum
        // RFC 9110, 15.5.22: an answer with 426 says what to upgrade to.
        error.headers = [.upgrade: "TLS/1.3, HTTP/1.1", .connection: "Upgrade"]
        return error
    }
}

extension HTTPField.Name {
    static let origin = HTTPField.Name("Origin")!
    static let companionVersion = HTTPField.Name(ProtocolVersion.header)!
}
