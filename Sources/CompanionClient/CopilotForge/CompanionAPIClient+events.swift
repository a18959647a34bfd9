import AsyncHTTPClient
import CompanionWire
import NIOHTTP1

extension CompanionAPIClient {
    /// Sends a request that is answered by a stream of events, and returns the stream once it has begun.
    ///
    /// - Throws: ``CompanionClientError``; its `delivery` says whether the host may have received the request.
    func openEvents(_ request: CompanionRequest) async throws -> HTTPClientResponse.Body.AsyncIterator {
        try await withSession { token in
            let response: HTTPClientResponse
            do {
                // The host may send the response head only with the first frame, so wait for it as long as a stream may
                // be silent.
                response = try await execute(request, token: token, timeout: configuration.timeouts.idle)
            } catch {
                throw try await transport(error, answered: false)
            }
            do {
                try await checkStatus(of: response)
            } catch let error as CompanionClientError where error.httpStatus == 404 {
                throw await explained(error, of: request)
            } catch {
                throw try await transport(error, answered: true)
            }
            if response.isHTML { throw stranger(response) }
            guard response.headers.first(name: "Content-Type")?.lowercased().begins(with: "text/event-stream") ?? false
            else {
                throw CompanionClientError(
                    .badAnswer,
                    message: "\(target) did not answer with a stream.",
                    httpStatus: Int(response.status.code)
                )
            }
            return response.body.makeAsyncIterator()
        }
    }
}
