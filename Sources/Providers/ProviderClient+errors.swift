import AsyncHTTPClient
import CompanionWire
import FoundationEssentials
import NIOCore
import NIOFoundationCompat
import NIOHTTP1
import NIOPosix
import NIOSSL

extension ProviderClient {
    func isCancellation(_ error: any Error) -> Bool {
        error is CancellationError || error as? HTTPClientError == .cancelled
    }

    /// - Parameter words: What the server said beside the answer.
    func interrupted(
        _ error: (any Error)?,
        at endpoint: ProviderEndpoint,
        says words: String? = nil
    ) -> ProviderError {
        let silence = error as? HTTPClientError == .readTimeout ? " It was silent for too long." : ""
        return ProviderError(
            .streamInterrupted,
            provider: endpoint.provider,
            message: "The answer of \(endpoint.name) broke off before its end.\(silence)",
            providerText: redacted(words, for: endpoint),
            underlying: error
        )
    }

    /// Returns the error for an answer that is not in the provider's format.
    func unknown(_ endpoint: ProviderEndpoint, says words: String? = nil) -> ProviderError {
        ProviderError(
            .badAnswer,
            provider: endpoint.provider,
            message: "\(endpoint.name) sent something that is not in its format.",
            providerText: redacted(words, for: endpoint)
        )
    }

    private func redacted(_ words: String?, for endpoint: ProviderEndpoint) -> String? {
        words.map { endpoint.key?.redacted($0) ?? $0 }
    }

    func tooLarge(_ endpoint: ProviderEndpoint) -> ProviderError {
        ProviderError(
            .tooLarge,
            provider: endpoint.provider,
            message: "\(endpoint.name) sent an answer that is too large."
        )
    }

    /// Returns the error for a request whose answer never began.
    func unanswered(_ error: any Error, at endpoint: ProviderEndpoint) -> any Error {
        if isCancellation(error) { return CancellationError() }
        let name = endpoint.place
        switch error {
        case let error as HTTPClientError where [.deadlineExceeded, .readTimeout].contains(error):
            return ProviderError(
                .timedOut,
                provider: endpoint.provider,
                message: "\(name) did not answer in time.",
                underlying: error
            )
        case is NIOSSLError, is NIOSSLExtraError, is BoringSSLError:
            return ProviderError(
                .unreachable,
                provider: endpoint.provider,
                message: "The certificate of \(name) could not be verified; nothing was sent.",
                underlying: error
            )
        case is NIOConnectionError, is IOError:
            return ProviderError(
                .unreachable,
                provider: endpoint.provider,
                message: "No connection to \(name).",
                underlying: error
            )
        case let error as HTTPClientError where error == .connectTimeout:
            let message = "No connection to \(name) in time."
            return ProviderError(.unreachable, provider: endpoint.provider, message: message, underlying: error)
        default:
            return ProviderError(
                .unreachable,
                provider: endpoint.provider,
                message: "The connection to \(name) broke before an answer arrived.",
                underlying: error
            )
        }
    }

    /// Throws what a status other than 2xx means.
    func check(_ response: HTTPClientResponse, from endpoint: ProviderEndpoint) async throws {
        let status = Int(response.status.code)
        guard !(200..<300).contains(status) else { return }
        // 64 KiB hold any error; what breaks on the way leaves the status.
        let body = (try? await response.body.collect(upTo: 64 << 10)) ?? ByteBuffer()
        try Task.checkCancellation()
        let failure = ProviderFailure(body: Array(body.readableBytesView))
        throw self.error(
            for: status,
            failure: failure,
            retryAfter: response.headers.first(name: "Retry-After").flatMap(Self.wait),
            at: endpoint
        )
    }

    /// An error that came in the stream.
    func error(for failure: ProviderFailure, at endpoint: ProviderEndpoint) -> ProviderError {
        let name = endpoint.name
        let message =
            switch failure.code {
            case .overloaded: "\(name) is overloaded and ended its answer."
            case .rateLimited: "\(name) ended its answer: its rate limit is reached."
            case .keyRefused: "\(name) rejected the key."
            case .contextOverflow: "The conversation is too long for the model of \(name)."
            default: "\(name) ended its answer with an error."
            }
        return ProviderError(
            failure.code,
            provider: endpoint.provider,
            message: message,
            providerText: failure.code == .keyRefused ? nil : redacted(failure.text, for: endpoint)
        )
    }

    private func error(
        for status: Int,
        failure: ProviderFailure?,
        retryAfter: Duration?,
        at endpoint: ProviderEndpoint
    ) -> ProviderError {
        let name = endpoint.name
        let (code, message): (ProviderError.Code, String) =
            switch status {
            case 300..<400: (.redirected, "\(name) answers with a redirect; it was not followed.")
            case 401: (.keyRefused, "\(name) rejected the key.")
            // Gemini answers like this if the key is invalid.
            case 400 where failure?.text.has("API key not valid") == true:
                (.keyRefused, "\(name) rejected the key.")
            case _ where [400, 422, 500].contains(status) && failure?.isOverflow == true:
                (.contextOverflow, "The conversation is too long for the model of \(name).")
            case 402, 403: (.forbidden, "\(name) refused this.")
            case 404: (.notFound, "\(name) does not have that model, or its interface is elsewhere.")
            case 408, 504: (.timedOut, "\(name) did not answer in time.")
            case 413: (.tooLarge, "The prompt is too large for \(name).")
            case 429: (.rateLimited, "Rate limit reached at \(name).")
            case 503, 529: (.overloaded, "\(name) is overloaded.")
            case 500...: (.server, "\(name) failed with status \(status).")
            default: (.badRequest, "\(name) refused the request with status \(status).")
            }
        // The message about a refused key may repeat parts of it.
        let text = code == .keyRefused ? nil : redacted(failure?.text, for: endpoint)
        return ProviderError(
            code,
            provider: endpoint.provider,
            message: message,
            providerText: text,
            httpStatus: status,
            retryAfter: retryAfter
        )
    }

    /// `Retry-After` (RFC 9110, section 10.2.3): seconds or a date.
    private static func wait(_ text: String) -> Duration? {
        if let seconds = Double(text), seconds.isFinite { return .seconds(min(max(seconds, 0), 86_400)) }
        return HTTPDate.date(from: text).map { .seconds(min(max($0.timeIntervalSinceNow, 0), 86_400)) }
    }
}
