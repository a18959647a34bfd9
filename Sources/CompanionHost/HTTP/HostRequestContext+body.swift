import CompanionWire
import HTTPTypes
import Hummingbird
import NIOCore

/// How much of a request's body is read. Requests that prove nothing cost the host little memory; the body of
/// a route that needs none, or of a path that there is not, is never kept.
enum BodyLimit {
    /// Bytes that any client may send.
    static let anybody = 8 << 10
    /// Bytes that a device may send: 1 MiB.
    static let device = 1 << 20
}

extension HostRequestContext {
    /// Reads the body, and checks that it is JSON where it says so: then ``json`` has it.
    ///
    /// - Throws: ``HostResponseError``: 413 for more bytes than the limit, 400 for a body that is no JSON, or breaks
    ///   off.
    mutating func readBody(of request: Request, upTo limit: Int) async throws {
        guard request.hasBody else { return }
        if let length = request.bodyLength, length > limit { throw HostResponseError.bodyTooLarge(limit) }
        var body = ByteBuffer()
        do {
            for try await var part in request.body {
                guard body.readableBytes + part.readableBytes <= limit else {
                    throw HostResponseError.bodyTooLarge(limit)
                }
                body.writeBuffer(&part)
            }
        } catch let error as HostResponseError {
            throw error
        } catch {
            // The connection has ended, or was ended. Nothing is wrong here.
            throw HostResponseError.bodyBrokenOff
        }
        guard request.hasJSON, body.readableBytes > 0 else { return }
        // Requests of v2 have codes of their own for what they cannot read.
        guard version >= 2 || HostJSON.isObjectOrArray(body) else {
            throw HostResponseError.malformedJSON
        }
        json = body
    }

    /// Reads the body of a request whose sender was refused, if it is small: as on deployed hosts, malformed JSON is
    /// reported first.
    ///
    /// - Throws: ``HostResponseError``: 400 for a body that is no JSON.
    func checkBody(ofRefused request: Request) async throws {
        var copy = self
        do {
            try await copy.readBody(of: request, upTo: BodyLimit.anybody)
        } catch let error as HostResponseError where error.status == .contentTooLarge {}
    }
}

extension Request {
    /// The length of the body in bytes, as the request states it; nil if it states none.
    var bodyLength: Int? { headers[.contentLength].flatMap { Int($0) } }

    var hasBody: Bool { bodyLength ?? 0 > 0 || headers[.transferEncoding] != nil }

    /// Whether a web page could have a browser send the body without asking this host first: it is a form of any kind
    /// (Fetch, CORS-safelisted request-header).
    var isForm: Bool {
        ["application/x-www-form-urlencoded", "multipart/form-data", "text/plain"].contains(mediaType)
    }

    fileprivate var hasJSON: Bool { mediaType == "application/json" }

    /// The type of the body in lower case, without parameters.
    private var mediaType: String? {
        headers[.contentType]?.parts(";").first.map { String($0).trimmingWhitespace().lowercased() }
    }
}

extension HostResponseError {
    static let malformedJSON = HostResponseError(.badRequest, "Malformed JSON")
    static let bodyBrokenOff = HostResponseError(
        .badRequest,
        "The body of the request broke off",
        headers: [.connection: "close"]
    )

    /// Closing spares reading the rest.
    static func bodyTooLarge(_ limit: Int) -> HostResponseError {
        let text = limit == BodyLimit.device ? "Request body is over 1 MiB" : "Request body is over 8 KiB"
        return HostResponseError(.contentTooLarge, text, headers: [.connection: "close"])
    }
}
