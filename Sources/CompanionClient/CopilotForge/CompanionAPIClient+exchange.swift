import AsyncHTTPClient
import CompanionWire
import FoundationEssentials
import Logging
import NIOConcurrencyHelpers
import NIOCore
import NIOFoundationCompat
import NIOHTTP1

extension CompanionAPIClient {
    /// Sends a request and decodes its JSON answer.
    ///
    /// - Parameter limit: The most bytes of the answer; nil uses the configured limit.
    func json<Answer: Decodable & Sendable>(
        _ request: CompanionRequest,
        as: Answer.Type,
        upTo limit: Int? = nil
    ) async throws -> Answer {
        let body: ByteBuffer
        do {
            body = try await exchange(request, upTo: limit ?? configuration.limits.body)
        } catch let error as CompanionClientError where error.httpStatus == 404 {
            throw await explained(error, of: request)
        }
        do {
            return try CompanionJSON.decode(Answer.self, fromPeer: Data(buffer: body))
        } catch {
            throw CompanionClientError(
                .badAnswer,
                message: "\(target) answered with unexpected JSON.",
                underlying: error
            )
        }
    }

    /// Sends a request with the session's token. If the host no longer accepts the token, sends it again with a newer
    /// one, at the latest with that of a session that is opened for it.
    ///
    /// A host that refuses a token has not processed the request, so nothing is executed twice.
    func withSession<Result>(
        isolation: isolated (any Actor)? = #isolation,
        _ body: (_ token: String?) async throws -> Result
    ) async throws -> Result {
        guard let session else { return try await body(nil) }
        var token = try await session.current()
        var isNew = false
        if token == nil {
            isNew = try await session.renew(after: nil, over: self)
            token = try await session.current()
        }
        while true {
            do {
                return try await body(token)
            } catch let error as CompanionClientError where error.code == .sessionExpired && !isNew {
                logger.debug("renewing the session")
                isNew = try await session.renew(after: token, over: self)
                token = try await session.current()
            }
        }
    }

    private func exchange(_ request: CompanionRequest, upTo limit: Int) async throws -> ByteBuffer {
        guard !request.isAnonymous else { return try await exchange(request, token: nil, upTo: limit) }
        return try await withSession { try await exchange(request, token: $0, upTo: limit) }
    }

    /// Sends a request and returns the body of a 2xx answer that is not an HTML page. A GET whose connection is cut is
    /// retried a few times; other requests are never sent twice.
    private func exchange(_ request: CompanionRequest, token: String?, upTo limit: Int) async throws -> ByteBuffer {
        let timeout = configuration.timeouts.request
        var again = Backoff(configuration.retries.ofReads)
        var (wasRepeated, wasMoved) = (false, false)
        while true {
            let used = target
            do {
                return try await exchangeOnce(within: timeout) {
                    try await execute(request, token: token, timeout: timeout)
                } read: {
                    try await readBody(of: $0, upTo: limit)
                } failure: {
                    try await transport($0, answered: $1)
                }
            } catch let error as CompanionClientError where request.isRepeatable && error.isCut {
                // Retry once without a wait: a host may close an idle connection just when it is used again.
                if wasRepeated {
                    guard let wait = again.next() else { throw error }
                    try await line.pause(for: wait, by: clock)
                }
                wasRepeated = true
                await line.renew(after: used)
                logger.debug("sending a request again", metadata: ["target": "\(request.target)"])
            } catch let error as CompanionClientError
                where error.code == .unreachable && error.delivery == .notSent && !wasMoved && line.canMove
            {
                wasMoved = true
                guard await line.renew(after: used) else { throw error }
            }
        }
    }

    /// Converts an error of the HTTP library. After a failed TLS handshake, checks whether the host has another key.
    func transport(_ error: any Error, answered: Bool) async throws -> any Error {
        if let pinned = security.certificate, !answered, CompanionClientError.isHandshakeFailure(error) {
            let shown = try await PinnedTLS.certificate(
                of: target,
                expecting: pinned.spki,
                configuration: configuration
            )
            guard shown == pinned else {
                return CompanionClientError(
                    .pinMismatch,
                    message: "\(target) shows a new certificate for the paired key; nothing was sent.",
                    delivery: .notSent,
                    underlying: error
                )
            }
        }
        return target.explained(
            CompanionClientError.transport(
                error,
                endpoint: target,
                answered: answered,
                timeouts: configuration.timeouts
            )
        )
    }

    /// Sends a request and waits for the head of the answer.
    func execute(_ request: CompanionRequest, token: String?, timeout: Duration) async throws -> HTTPClientResponse {
        let target = self.target
        var message = HTTPClientRequest(url: target.origin(isSecure: security != .plain) + request.target)
        message.method = request.method
        message.headers.add(name: "Host", value: target.authority)
        message.headers.add(name: "Accept", value: "application/json, text/event-stream")
        message.headers.add(name: "User-Agent", value: "pairtool")
        if security != .plain {
            message.headers.add(name: ProtocolVersion.header, value: "\(ProtocolVersion.maximum)")
            message.headers.add(name: ProtocolVersion.viaHeader, value: target.rung.rawValue)
            if let token { message.headers.add(name: "Authorization", value: "Bearer \(token)") }
        }
        for (name, value) in request.headers { message.headers.add(name: name, value: value) }
        if let body = request.body {
            message.headers.add(name: "Content-Type", value: "application/json")
            message.body = .bytes(body)
        }
        let deadline = NIODeadline.now() + TimeAmount(timeout)
        let response = try await http.execute(message, deadline: deadline, logger: logger.withoutBodies)
        noteDate(of: response)
        logger.debug(
            "answered",
            metadata: [
                "method": "\(request.method)", "target": "\(request.target)", "status": "\(response.status.code)",
            ]
        )
        return response
    }

    private func noteDate(of response: HTTPClientResponse) {
        guard let date = response.serverDate else { return }
        offset.withLockedValue { $0 = .seconds(date.timeIntervalSince(Date())) }
    }

    private func readBody(of response: HTTPClientResponse, upTo limit: Int) async throws -> ByteBuffer {
        try await checkStatus(of: response)
        let body = try await response.bytes(upTo: limit, from: target)
        if response.isHTML || body.looksLikeHTML { throw stranger(response) }
        return body
    }

    /// Throws the error for a status other than 2xx.
    func checkStatus(of response: HTTPClientResponse) async throws {
        let status = Int(response.status.code)
        guard !(200..<300).contains(status) else { return }
        // 64 KiB are enough for any error.
        let body = (try? await response.bytes(upTo: 64 << 10, from: target)) ?? ByteBuffer()
        try Task.checkCancellation()
        let answer = try? CompanionJSON.decode(CompanionErrorResponse.self, fromPeer: Data(buffer: body))
        if let time = answer?.serverTime { offset.withLockedValue { $0 = .seconds(time.timeIntervalSince(Date())) } }
        throw CompanionClientError.status(
            status,
            answer: answer,
            isHTML: response.isHTML || body.looksLikeHTML,
            serverDate: response.serverDate,
            endpoint: target
        )
    }

    func stranger(_ response: HTTPClientResponse) -> CompanionClientError {
        CompanionClientError(
            .notACompanion,
            message: "The server on \(target) answers with web pages: it is not a companion host.",
            httpStatus: Int(response.status.code),
            serverDate: response.serverDate
        )
    }
}
