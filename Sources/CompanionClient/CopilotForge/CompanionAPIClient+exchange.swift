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
    /// - Parameter limit: The most bytes of the answer. Nil: as configured.
    func json<Answer: Decodable & Sendable>(
        _ request: CompanionRequest,
        as: Answer.Type,
        upTo limit: Int? = nil
    ) async throws -> Answer {
        let body = try await exchange(request, upTo: limit ?? configuration.limits.body)
        do {
            return try CompanionJSON.decoder().decode(Answer.self, from: Data(buffer: body))
        } catch {
            throw CompanionClientError(
                .badAnswer,
                "\(endpoint) answered with JSON that was not expected.",
                underlying: error
            )
        }
    }

    /// Sends a request and returns the body of a 2xx answer that is not a page.
    ///
    /// A GET whose connection closed before an answer began is sent once more, since a host may close an idle
    /// connection at the moment that it is used again. Nothing else is ever sent twice.
    private func exchange(_ request: CompanionRequest, upTo limit: Int) async throws -> ByteBuffer {
        do {
            return try await exchangeOnce(request, upTo: limit)
        } catch let error as CompanionClientError
            where request.isRepeatable && error.code == .unreachable && error.delivery == .unknown
        {
            logger.debug("sending a request again", metadata: ["target": "\(request.target)"])
            return try await exchangeOnce(request, upTo: limit)
        }
    }

    private func exchangeOnce(_ request: CompanionRequest, upTo limit: Int) async throws -> ByteBuffer {
        let answered = NIOLockedValueBox(false)
        do {
            return try await withTimeLimit(configuration.timeouts.request) {
                let response = try await execute(request, timeout: configuration.timeouts.request)
                answered.withLockedValue { $0 = true }
                return try await readBody(of: response, upTo: limit)
            }
        } catch {
            throw CompanionClientError.transport(
                error,
                endpoint: endpoint,
                answered: answered.withLockedValue { $0 },
                timeouts: configuration.timeouts
            )
        }
    }

    /// Sends a request and waits for the head of its answer.
    func execute(_ request: CompanionRequest, timeout: Duration) async throws -> HTTPClientResponse {
        var message = HTTPClientRequest(url: endpoint.origin + request.target)
        message.method = request.method
        message.headers.add(name: "Accept", value: "application/json, text/event-stream")
        message.headers.add(name: "User-Agent", value: "pairtool")
        if let body = request.body {
            message.headers.add(name: "Content-Type", value: "application/json")
            message.body = .bytes(body)
        }
        let response = try await http.execute(message, deadline: .now() + TimeAmount(timeout), logger: logger)
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
        let body = try await collect(response, upTo: limit)
        if response.isHTML || body.looksLikeHTML { throw stranger(response) }
        return body
    }

    /// Throws what a status other than 2xx means.
    func checkStatus(of response: HTTPClientResponse) async throws {
        let status = Int(response.status.code)
        guard !(200..<300).contains(status) else { return }
        // 64 KiB hold any error; of a page, its beginning is enough.
        let body = (try? await collect(response, upTo: 64 << 10)) ?? ByteBuffer()
        try Task.checkCancellation()
        let answer = try? CompanionJSON.decoder().decode(CompanionErrorResponse.self, from: Data(buffer: body))
        throw CompanionClientError.status(
            status,
            hostText: answer?.error,
            isHTML: response.isHTML || body.looksLikeHTML,
            serverDate: response.serverDate,
            endpoint: endpoint
        )
    }

    func stranger(_ response: HTTPClientResponse) -> CompanionClientError {
        CompanionClientError(
            .notACompanion,
            "What listens on \(endpoint) answers with web pages: it is not a companion host.",
            httpStatus: Int(response.status.code),
            serverDate: response.serverDate
        )
    }

    private func collect(_ response: HTTPClientResponse, upTo limit: Int) async throws -> ByteBuffer {
        let tooLarge = CompanionClientError(
            .tooLarge,
            "\(endpoint) sent an answer of more than \(limit) bytes.",
            httpStatus: Int(response.status.code)
        )
        if let length = response.headers.first(name: "Content-Length").flatMap(Int.init), length > limit {
            throw tooLarge
        }
        var body = ByteBuffer()
        for try await part in response.body {
            guard body.readableBytes + part.readableBytes <= limit else { throw tooLarge }
            body.writeImmutableBuffer(part)
        }
        // A reader whose task was cancelled sees an end like any other.
        try Task.checkCancellation()
        return body
    }
}

extension HTTPClientResponse {
    var serverDate: Date? {
        headers.first(name: "Date").flatMap(HTTPDate.date(from:))
    }

    var isHTML: Bool {
        headers.first(name: "Content-Type")?.lowercased().contains("html") ?? false
    }
}

extension ByteBuffer {
    var looksLikeHTML: Bool {
        readableBytesView.first { ![0x20, 0x09, 0x0a, 0x0d].contains($0) } == UInt8(ascii: "<")
    }
}
