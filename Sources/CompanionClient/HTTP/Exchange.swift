import AsyncHTTPClient
import CompanionWire
import Logging
import NIOConcurrencyHelpers

/// Sends one request and reads its answer, both within a time.
///
/// - Parameters:
///   - execute: Sends it, and returns the head of the answer.
///   - read: Makes something of the answer.
///   - failure: What is thrown for an error; told whether the head of an answer had arrived.
func exchangeOnce<Answer: Sendable>(
    within limit: Duration,
    execute: @escaping @Sendable () async throws -> HTTPClientResponse,
    read: @escaping @Sendable (HTTPClientResponse) async throws -> Answer,
    failure: (_ error: any Error, _ answered: Bool) async throws -> any Error
) async throws -> Answer {
    let answered = NIOLockedValueBox(false)
    do {
        return try await within(limit) {
            let response = try await execute()
            answered.withLockedValue { $0 = true }
            return try await read(response)
        }
    } catch {
        throw try await failure(error, answered.withLockedValue(\.self))
    }
}

/// Sends a request, and once more where its connection closed before an answer began: a host may close an idle
/// connection at the moment that it is used again.
///
/// - Parameters:
///   - target: What the log calls the request.
///   - isRepeatable: Whether it may be sent twice without harm. Where not, it never is.
func repeatingLost<Answer>(
    _ target: String,
    if isRepeatable: Bool,
    logger: Logger,
    _ send: () async throws -> Answer
) async throws -> Answer {
    do {
        return try await send()
    } catch let error as CompanionClientError
        where isRepeatable && error.code == .unreachable && error.delivery == .unknown
    {
        logger.debug("sending a request again", metadata: ["target": "\(target)"])
        return try await send()
    }
}
