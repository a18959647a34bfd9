import HTTPTypes
import Hummingbird

/// Ends a connection whose request for an upgrade got another answer: NIO's parser reads nothing behind such a request,
/// so that the next one would never be answered.
struct UpgradeMiddleware: RouterMiddleware {
    func handle(
        _ request: Request,
        context: HostRequestContext,
        next: (Request, HostRequestContext) async throws -> Response
    ) async throws -> Response {
        var response = try await next(request, context)
        if request.headers[.upgrade] != nil, response.status != .switchingProtocols {
            let others = response.headers[.connection].map { $0 + ", " } ?? ""
            response.headers[.connection] = others + "close"
        }
        return response
    }
}
