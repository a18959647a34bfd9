import CompanionWire
import FoundationEssentials
import HTTPTypes
import Hummingbird
import NIOCore

/// An answer other than 200: `{ok:false, error:"text"}`, and for v2 a `code` and the fields that belong to it.
struct HostResponseError: HTTPResponseError {
    var status: HTTPResponse.Status
    var text: String
    var code: CompanionErrorCode?
    var retryable: Bool
    var headers: HTTPFields
    var triesLeft: Int?
    /// The versions that would be served.
    var versions: ClosedRange<Int>?

    init(
        _ status: HTTPResponse.Status,
        _ text: String,
        code: CompanionErrorCode? = nil,
        retryable: Bool = false,
        headers: HTTPFields = [:]
    ) {
        self.status = status
        self.text = text
        self.code = code
        self.retryable = retryable
        self.headers = headers
    }

    /// The answer to any error. An internal one becomes a 500 without its reason.
    init(describing error: any Error) {
        switch error {
        case let error as HostResponseError: self = error
        case let error as HTTPError:
            let text = error.status == .notFound ? "Not found" : error.body ?? error.status.reasonPhrase
            self.init(error.status, text)
        case let error as any HTTPResponseError: self.init(error.status, error.status.reasonPhrase)
        default:
            if let error = HostError(describing: error) {
                self.init(error)
            } else {
                self.init(.internalServerError, HostError.internal.text)
            }
        }
    }

    /// The answer to a request that the host refuses.
    init(_ error: HostError) {
        self.init(Self.status(of: error), error.text, code: error.code, retryable: error.retryable)
        // `ErrorMiddleware` gives it a code again for v2.
        if error.variant == .textOnlyInV1 { code = nil }
        if let seconds = error.retryAfter { headers[.retryAfter] = "\(seconds)" }
        if error.variant == .usual, [.sessionRequired, .sessionExpired].contains(error.code) {
            headers[.wwwAuthenticate] = "Bearer"
            text += ": POST /companion/session" + (error.code == .sessionExpired ? " gives a new one" : "")
        }
        triesLeft = error.triesLeft
    }

    private static func status(of error: HostError) -> HTTPResponse.Status {
        guard error.variant != .alreadyExists else { return .conflict }
        switch error.code {
        case .requestInvalid, .pairingBadShare, .commandBadShape, .commandBadTime, .commandExpired: return .badRequest
        case .sessionRequired, .sessionExpired, .sessionBadSignature, .commandBadSignature: return .unauthorized
        case .requestForbidden, .permissionDenied, .deviceUnknown, .deviceRevoked, .deviceExpired, .pairingWrongCode,
            .pairingWrongToken, .sessionWrongAudience, .commandWrongAudience:
            return .forbidden
        case .requestNotFound, .turnUnknown, .approvalUnknown: return .notFound
        case .pairingNotActive, .sessionReplayed, .commandReplayed, .commandConflict, .chatBusy,
            .changesUnavailable, .sessionUnsaved, .approvalDecided:
            return .conflict
        case .pairingExpired: return .gone
        case .pairingLocked: return HTTPResponse.Status(code: 423, reasonPhrase: "Locked")
        case .pairingRateLimited, .sessionRateLimited, .quotaExceeded: return .tooManyRequests
        case .hostStorageFailed, .hostAgentUnavailable, .hostAgentSignIn: return .serviceUnavailable
        default: return .internalServerError
        }
    }

    /// The code of an answer that was made for v1, where a device of v2 gets it.
    var codeOfStatus: CompanionErrorCode {
        switch status.code {
        case 401, 403: .requestForbidden
        case 404, 405: .requestNotFound
        case 409: .chatBusy
        case 413: .requestTooLarge
        case 500...: .internal
        default: .requestInvalid
        }
    }

    func response(from request: Request, context: some RequestContext) throws -> Response {
        response(isHead: request.method == .head)
    }

    /// - Parameters:
    ///   - isHead: Whether the body is left out, as in every answer to HEAD.
    ///   - serverTime: The host's clock, for answers with a code.
    func response(isHead: Bool, serverTime: Date? = nil) -> Response {
        guard !isHead else { return Response(status: status, headers: headers) }
        let body = CompanionErrorResponse(
            error: text,
            code: code,
            retryable: code == nil ? nil : retryable,
            serverTime: code == nil ? nil : serverTime,
            triesLeft: triesLeft,
            minimumVersion: versions?.lowerBound,
            maximumVersion: versions?.upperBound
        )
        var response = Response.json(body, status: status)
        response.headers.append(contentsOf: headers)
        return response
    }
}

extension Response {
    /// An answer with a JSON body.
    static func json(_ value: some Encodable, status: HTTPResponse.Status = .ok) -> Response {
        guard let data = try? CompanionJSON.encoder().encode(value) else {
            return Response(status: .internalServerError)
        }
        return .json(ByteBuffer(bytes: data), status: status)
    }

    /// An answer whose body is JSON already.
    static func json(_ body: ByteBuffer, status: HTTPResponse.Status = .ok) -> Response {
        Response(
            status: status,
            headers: [.contentType: "application/json; charset=utf-8", .cacheControl: "no-store"],
            body: ResponseBody(byteBuffer: body)
        )
    }
}
