import AsyncHTTPClient
import CompanionWire
import Glibc
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL

extension CompanionClientError {
    /// Converts an error of the HTTP library. The only place that does so.
    ///
    /// - Parameters:
    ///   - endpoint: The host, as the message names it.
    ///   - answered: Whether the head of an answer had arrived.
    ///   - timeouts: The limits that the message names.
    static func transport(
        _ error: any Error,
        endpoint: some CustomStringConvertible,
        answered: Bool,
        timeouts: CompanionClientConfiguration.Timeouts
    ) -> any Error {
        if error is CancellationError || error as? HTTPClientError == .cancelled { return CancellationError() }
        if let known = error as? CompanionClientError { return known }
        func make(_ code: Code, message: String, delivery: Delivery) -> CompanionClientError {
            CompanionClientError(code, message: message, delivery: answered ? .answered : delivery, underlying: error)
        }
        func cut(_ message: String, delivery: Delivery) -> CompanionClientError {
            var error = make(.unreachable, message: message, delivery: delivery)
            error.isCut = true
            return error
        }
        let early = "\(endpoint) closed the connection before its answer was complete."
        switch error {
        case let parser as HTTPParserError where parser == .invalidEOFState:
            // The connection ended inside the head of the answer.
            return cut(early, delivery: .unknown)
        case is HTTPParserError:
            return make(
                .notACompanion,
                message: "The server on \(endpoint) does not speak HTTP.",
                delivery: .answered
            )
        case ChannelError.connectTimeout:
            return make(
                .unreachable,
                message: "No connection to \(endpoint) within \(timeouts.connect.forPeople).",
                delivery: .notSent
            )
        case let connection as NIOConnectionError where connection.connectionErrors.isEmpty:
            var unknown = make(
                .unreachable,
                message: "No machine called \(connection.host) is known here.",
                delivery: .notSent
            )
            unknown.isUnknownName = true
            return unknown
        case let connection as NIOConnectionError:
            return make(
                .unreachable,
                message: "No connection to \(endpoint): \(reason(of: connection)).",
                delivery: .notSent
            )
        case let failure as IOError where connectOnly.contains(failure.errnoCode):
            return make(
                .unreachable,
                message: "No connection to \(endpoint): \(reason(failure.errnoCode)).",
                delivery: .notSent
            )
        case let failure as IOError:
            return cut("No connection to \(endpoint): \(reason(failure.errnoCode)).", delivery: .unknown)
        case is ChannelError:
            return cut("The connection to \(endpoint) failed.", delivery: .unknown)
        case is NIOSSLError where isHandshakeCut(error):
            return cut("\(endpoint) closed the connection during the TLS handshake.", delivery: .notSent)
        case is NIOSSLError, is NIOSSLExtraError:
            guard isHandshakeFailure(error) else { return cut(early, delivery: .unknown) }
            return make(
                .notACompanion,
                message: "The server on \(endpoint) does not speak the TLS of a companion host.",
                delivery: .notSent
            )
        case let failure as HTTPClientError:
            return library(failure, endpoint: endpoint, timeouts: timeouts, make: make)
        case is TimeLimitExceeded:
            return make(
                .timedOut,
                message: "\(endpoint) did not answer within \(timeouts.request.forPeople).",
                delivery: .unknown
            )
        default:
            return make(.unreachable, message: "The connection to \(endpoint) failed.", delivery: .unknown)
        }
    }

    /// Whether a TLS connection was never made.
    static func isHandshakeFailure(_ error: any Error) -> Bool {
        // The certificate is another host's.
        if let extra = error as? NIOSSLExtraError {
            return [.failedToValidateHostname, .serverHostnameImpossibleToMatch].contains(extra)
        }
        guard case .handshakeFailed? = error as? NIOSSLError else { return error is BoringSSLError }
        return !isHandshakeCut(error)
    }

    /// Whether the connection ended during the TLS handshake. Nothing was sent.
    static func isHandshakeCut(_ error: any Error) -> Bool {
        guard case .handshakeFailed(.sslError(let causes))? = error as? NIOSSLError else { return false }
        return causes.contains { [.eofDuringHandshake, .eofDuringAdditionalCertficiateChainValidation].contains($0) }
    }

    private static func library(
        _ error: HTTPClientError,
        endpoint: some CustomStringConvertible,
        timeouts: CompanionClientConfiguration.Timeouts,
        make: (Code, String, Delivery) -> CompanionClientError
    ) -> CompanionClientError {
        switch error {
        case .connectTimeout, .getConnectionFromPoolTimeout:
            let limit = timeouts.connect.forPeople
            return make(.unreachable, "No connection to \(endpoint) within \(limit).", .notSent)
        case .deadlineExceeded:
            return make(.timedOut, "\(endpoint) did not answer in time.", .unknown)
        case .readTimeout:
            return make(.timedOut, "\(endpoint) was silent for \(timeouts.idle.forPeople).", .unknown)
        case .tlsHandshakeTimeout:
            let limit = timeouts.connect.forPeople
            return make(.unreachable, "No TLS connection to \(endpoint) within \(limit).", .notSent)
        case .remoteConnectionClosed:
            var error = make(
                .unreachable,
                "\(endpoint) closed the connection before its answer was complete.",
                .unknown
            )
            error.isCut = true
            return error
        default:
            return make(.unreachable, "The connection to \(endpoint) failed.", .unknown)
        }
    }

    /// Errors that only an attempt to connect gives. `EHOSTUNREACH` is not among them: an open connection can fail with
    /// it too.
    private static let connectOnly: Set<CInt> = [ECONNREFUSED, ENETUNREACH, EADDRNOTAVAIL, EAFNOSUPPORT, EINVAL]

    private static func reason(_ code: CInt) -> String {
        switch code {
        case ECONNREFUSED: "nothing listens on that port"
        case EHOSTUNREACH, EHOSTDOWN: "the host does not answer"
        case ENETUNREACH: "there is no route to that network"
        case ECONNRESET, EPIPE: "the host broke the connection"
        case ETIMEDOUT: "the host stopped answering"
        default: String(cString: strerror(code)).lowercased()
        }
    }

    private static func reason(of error: NIOConnectionError) -> String {
        if let first = error.connectionErrors.first?.error as? IOError { return reason(first.errnoCode) }
        return "its address could not be used"
    }
}

extension Duration {
    /// `15 seconds`, `0.2 seconds`.
    var forPeople: String {
        let tenths = components.seconds * 10 + components.attoseconds / 100_000_000_000_000_000
        let text = tenths % 10 == 0 ? "\(tenths / 10)" : "\(tenths / 10).\(tenths % 10)"
        return tenths == 10 ? "1 second" : "\(text) seconds"
    }
}
