import CompanionWire
import Glibc
import NIOCore
import NIOPosix
import NIOSSL

extension RelayError {
    /// The error for what NIO and NIOSSL say about a connection.
    ///
    /// - Parameters:
    ///   - error: A `RelayError` is returned as it is.
    ///   - relay: The address and port of the relay.
    static func transport(_ error: any Error, relay: String) -> RelayError {
        switch error {
        case let error as RelayError:
            error
        case let failure as NIOConnectionError:
            unreachable(relay, because: reason(of: failure), underlying: failure)
        case ChannelError.connectTimeout, is SocketAddressError:
            unreachable(relay, because: "it does not answer", underlying: error)
        case let failure as IOError where connectOnly.contains(failure.errnoCode):
            unreachable(relay, because: reason(failure.errnoCode), underlying: failure)
        case is NIOSSLError, is NIOSSLExtraError, is BoringSSLError:
            handshake(error, relay: relay)
        default:
            closed(relay, underlying: error)
        }
    }

    static func unreachable(_ relay: String, because reason: String, underlying: (any Error)? = nil) -> RelayError {
        RelayError(.unreachable, message: "No connection to the relay \(relay): \(reason).", underlying: underlying)
    }

    static func closed(_ relay: String, underlying: (any Error)? = nil) -> RelayError {
        RelayError(.closed, message: "The relay \(relay) closed the connection.", underlying: underlying)
    }

    static func timedOut(_ relay: String, after limit: Duration) -> RelayError {
        RelayError(.timedOut, message: "The relay \(relay) did not answer within \(limit.seconds).")
    }

    /// - Parameter detail: Completes “It”: a verb and its object.
    static func badMessage(_ relay: String, it detail: String) -> RelayError {
        RelayError(
            .badMessage,
            message: "The server at \(relay) does not speak the protocol of a relay: it \(detail)."
        )
    }

    static func wrongID(_ relay: String, expected: RelayID, shown: RelayID) -> RelayError {
        RelayError(
            .wrongID,
            message: "The relay \(relay) shows another id than its address has: expected \(expected), shown \(shown). "
                + "Check the address; someone may be intercepting the connection. Nothing was sent."
        )
    }

    /// The error for an answer to a request that is an error in the protocol.
    static func refused(_ relay: String, response: RelayResponse) -> RelayError {
        let text = response.shownText
        let words = text.isEmpty ? "" : ", and says: \(text)"
        return RelayError(
            .refused,
            message: "The relay \(relay) refused the request with code \(response.code)\(words)."
        )
    }

    static func full(_ relay: String) -> RelayError {
        RelayError(.full, message: "The relay \(relay) is over its limits and takes no more connections at the moment.")
    }

    private static func handshake(_ error: any Error, relay: String) -> RelayError {
        switch error {
        case NIOSSLError.handshakeFailed(.sslError(let causes)) where causes.contains(.eofDuringHandshake):
            return closed(relay, underlying: error)
        case NIOSSLError.handshakeFailed, is NIOSSLExtraError:
            var result = badMessage(relay, it: "does not speak TLS as relays do")
            result.underlying = error
            return result
        default:
            return closed(relay, underlying: error)
        }
    }

    /// Errors that only an attempt to connect gives.
    private static let connectOnly: Set<CInt> = [ECONNREFUSED, ENETUNREACH, EADDRNOTAVAIL, EAFNOSUPPORT, EINVAL]

    private static func reason(of error: NIOConnectionError) -> String {
        guard let first = error.connectionErrors.first else { return "there is no machine with that name" }
        guard let failure = first.error as? IOError else { return "it does not answer" }
        return reason(failure.errnoCode)
    }

    private static func reason(_ code: CInt) -> String {
        switch code {
        case ECONNREFUSED: "nothing listens on that port"
        case EHOSTUNREACH, EHOSTDOWN, ETIMEDOUT: "it does not answer"
        case ENETUNREACH: "there is no route to that network"
        case ECONNRESET, EPIPE: "it broke the connection"
        default: String(cString: strerror(code)).lowercased()
        }
    }
}

extension Duration {
    /// `10 seconds`, `0.2 seconds`, `1 second`.
    var seconds: String {
        let tenths = components.seconds * 10 + components.attoseconds / 100_000_000_000_000_000
        let text = tenths % 10 == 0 ? "\(tenths / 10)" : "\(tenths / 10).\(tenths % 10)"
        return tenths == 10 ? "1 second" : "\(text) seconds"
    }
}
