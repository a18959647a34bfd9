import AsyncHTTPClient
import CompanionWire
import NIOHTTP1

extension CompanionAPIClient {
    /// Sends a request whose answer is a stream of events, and returns the stream once it has begun.
    ///
    /// - Throws: ``CompanionClientError``; `delivery` says whether the host can have taken the request.
    func openEvents(_ request: CompanionRequest) async throws -> HTTPClientResponse.Body.AsyncIterator {
        try await withSession { token in
            let response: HTTPClientResponse
            do {
                // The head may come with the first frame only, after as long a silence as a stream may have.
                response = try await execute(request, token: token, timeout: configuration.timeouts.idle)
            } catch {
                throw try await transport(error, answered: false)
            }
            do {
                try await checkStatus(of: response)
            } catch {
                throw try await transport(error, answered: true)
            }
            if response.isHTML { throw stranger(response) }
            guard response.headers.first(name: "Content-Type")?.lowercased().begins(with: "text/event-stream") ?? false
            else {
                throw CompanionClientError(
                    .badAnswer,
                    "\(endpoint) did not answer with a stream.",
                    httpStatus: Int(response.status.code)
                )
            }
            return response.body.makeAsyncIterator()
        }
    }
}
