import AsyncHTTPClient
import CompanionWire
import FoundationEssentials
import NIOCore
import NIOHTTP1

extension HTTPClientResponse {
    /// The whole body.
    ///
    /// - Parameters:
    ///   - limit: The most bytes that it may have.
    ///   - endpoint: The sender, for the error message.
    /// - Throws: ``CompanionClientError/Code/tooLarge``; `CancellationError`; what the HTTP library throws.
    func bytes(upTo limit: Int, from endpoint: some CustomStringConvertible) async throws -> ByteBuffer {
        let bytes: ByteBuffer
        do {
            bytes = try await body.collect(upTo: limit)
        } catch is NIOTooManyBytesError {
            throw CompanionClientError(
                .tooLarge,
                message: "\(endpoint) sent an answer of more than \(limit) bytes.",
                httpStatus: Int(status.code)
            )
        }
        // A reader whose task was cancelled sees an end like any other.
        try Task.checkCancellation()
        return bytes
    }

    /// The time in the `Date` header.
    var serverDate: Date? {
        headers.first(name: "Date").flatMap(HTTPDate.date(from:))
    }

    var isHTML: Bool {
        headers.first(name: "Content-Type")?.lowercased().has("html") ?? false
    }
}

extension ByteBuffer {
    var looksLikeHTML: Bool {
        readableBytesView.first { ![0x20, 0x09, 0x0a, 0x0d].contains($0) } == UInt8(ascii: "<")
    }
}
