import HTTPTypes
import Hummingbird

/// The routes of one subject.
protocol RouteGroup: Sendable {
    func addRoutes(to router: Router<HostRequestContext>)
}

extension Router<HostRequestContext> {
    /// Adds a path that knows exactly one method. Where that is GET, HEAD gets the same without the body.
    ///
    /// - Parameters:
    ///   - bodyLimit: Bytes of a body that is read before anything else. nil: the route has none, or reads it itself
    ///     once it knows the sender.
    ///   - hasHead: Whether HEAD is answered: not where the answer is a stream.
    func add(
        _ path: RouterPath,
        method: HTTPRequest.Method = .get,
        bodyLimit: Int? = nil,
        hasHead: Bool = true,
        use handler: @escaping @Sendable (Request, HostRequestContext) async throws -> Response
    ) {
        on(path, method: method) { request, context -> Response in
            var context = context
            if let bodyLimit { try await context.readBody(of: request, upTo: bodyLimit) }
            return try await handler(request, context)
        }
        let isHeadKnown = method == .get && hasHead
        if isHeadKnown {
            on(path, method: .head) { request, context -> Response in
                try await handler(request, context).createHeadResponse()
            }
        }
        let others: [HTTPRequest.Method] = [.get, .head, .post, .put, .patch, .delete, .options, .trace]
        for other in others where other != method && !(other == .head && isHeadKnown) {
            on(path, method: other) { _, _ -> Response in
                throw HostResponseError(
                    .methodNotAllowed,
                    "Method not allowed",
                    headers: [.allow: isHeadKnown ? "GET, HEAD" : method.rawValue]
                )
            }
        }
    }
}

extension Request {
    /// A number in the query, read as deployed hosts do (`parseInt`): white space, a sign, digits; the rest is ignored.
    func integer(_ name: Substring) -> Int? {
        guard let text = uri.queryParameters[name] else { return nil }
        let trimmed = text.drop(while: \.isWhitespace)
        let isSigned = trimmed.first == "-" || trimmed.first == "+"
        let digits = trimmed.dropFirst(isSigned ? 1 : 0).prefix { ("0"..."9").contains($0) }
        guard !digits.isEmpty else { return nil }
        let value = Int(digits) ?? .max
        return trimmed.first == "-" ? -value : value
    }
}
