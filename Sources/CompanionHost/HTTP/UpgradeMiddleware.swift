import HTTPTypes
import Hummingbird

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
