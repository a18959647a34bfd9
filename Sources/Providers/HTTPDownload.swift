import AsyncHTTPClient
import NIOCore
import NIOHTTP1

/// Fetches a small file over HTTPS. Follows no redirect and uses no proxy.
package enum HTTPDownload {
    /// Why there is no file: a clause for people.
    package struct Failure: Error, Sendable, CustomStringConvertible {
        package var description: String
    }

    /// - Parameters:
    ///   - url: An https URL.
    ///   - limit: Bytes of the file.
    ///   - patience: How long all of it may take.
    /// - Throws: ``Failure``; `CancellationError`.
    package static func bytes(of url: String, limit: Int, patience: Duration) async throws -> [UInt8] {
        let configuration = HTTPClient.Configuration.direct(connect: patience / 2, idle: patience)
        return try await HTTPClient.withHTTPClient(configuration: configuration) { http in
            do {
                let answer = try await http.execute(HTTPClientRequest(url: url), timeout: TimeAmount(patience))
                guard answer.status == .ok else {
                    throw Failure(description: "the server answers with status \(answer.status.code)")
                }
                return Array(try await answer.body.collect(upTo: limit).readableBytesView)
            } catch let error as Failure {
                throw error
            } catch is NIOTooManyBytesError {
                throw Failure(description: "it has more than \(limit >> 20) MiB")
            } catch {
                try Task.checkCancellation()
                throw Failure(description: "the server did not send it: \(error)")
            }
        }
    }
}
