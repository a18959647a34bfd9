package import CompanionWire
import Glibc

/// Runs a body with an endpoint of this machine that refuses every connection, where no server of the body's own
/// listens. Nobody else gets its port meanwhile: a socket is bound to it that does not listen.
///
/// - Parameter isShared: Whether a server that asks for this very port gets it for as long as it runs. Default: no.
package func withClosedPort<R>(
    isShared: Bool = false,
    _ body: (CompanionEndpoint) async throws -> R
) async throws -> R {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { throw ClosedPortError(number: errno) }
    defer { close(descriptor) }
    // Connections that have ended may still be known at the port. Without `isShared`, no other socket gets it later.
    try share(descriptor, true)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isBound = withUnsafeMutablePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
            bind(descriptor, $0, size) == 0 && getsockname(descriptor, $0, &size) == 0
        }
    }
    guard isBound else { throw ClosedPortError(number: errno) }
    try share(descriptor, isShared)
    guard let endpoint = CompanionEndpoint("127.0.0.1:\(in_port_t(bigEndian: address.sin_port))") else {
        throw ClosedPortError(number: EINVAL)
    }
    return try await body(endpoint)
}

private func share(_ descriptor: Int32, _ isShared: Bool) throws {
    var value: Int32 = isShared ? 1 : 0
    let size = socklen_t(MemoryLayout<Int32>.size)
    guard setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &value, size) == 0 else {
        throw ClosedPortError(number: errno)
    }
}

private struct ClosedPortError: Error, CustomStringConvertible {
    let number: Int32

    var description: String { "no port can be kept closed: \(String(cString: strerror(number)))" }
}
