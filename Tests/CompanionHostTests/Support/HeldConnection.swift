import Glibc
import NIOConcurrencyHelpers

/// A connection that a test holds open and looks at, without waiting for anything.
final class HeldConnection: Sendable {
    private let descriptor: Int32

    init(port: Int, from source: String = "127.0.0.1") throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        let size = socklen_t(MemoryLayout<sockaddr_in>.size)
        var results: [Int32] = []
        for (text, port) in [(source, 0), ("127.0.0.1", port)] {
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_port = UInt16(port).bigEndian
            inet_pton(AF_INET, text, &address.sin_addr)
            let isOwn = results.isEmpty
            results.append(
                withUnsafePointer(to: &address) {
                    $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                        isOwn ? bind(descriptor, $0, size) : connect(descriptor, $0, size)
                    }
                }
            )
        }
        guard results == [0, 0] else { throw TestFailure("no connection: \(errno)") }
    }

    deinit {
        close(descriptor)
    }

    /// Sends what the host still takes.
    func send(_ bytes: [UInt8]) {
        _ = bytes.withUnsafeBytes { Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
    }

    func send(_ text: String) { send(Array(text.utf8)) }

    /// Whether the host has ended the connection. What it has sent before is thrown away.
    var isEnded: Bool {
        var chunk = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = recv(descriptor, &chunk, chunk.count, Int32(MSG_DONTWAIT))
            if count > 0 { continue }
            return count == 0 || errno != EAGAIN
        }
    }

    /// Whether something has come that nobody has read.
    var hasMore: Bool {
        var byte: UInt8 = 0
        return recv(descriptor, &byte, 1, Int32(MSG_DONTWAIT) | Int32(MSG_PEEK)) > 0
    }

    /// All that comes until the host ends the connection.
    func readToEnd() -> String {
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 4096)
        while case let count = recv(descriptor, &chunk, chunk.count, 0), count > 0 { bytes += chunk[..<count] }
        return String(decoding: bytes, as: UTF8.self)
    }
}

/// Something that has happened, on whatever thread.
final class Flag: Sendable {
    private let value = NIOLockedValueBox(false)
    var isSet: Bool { value.withLockedValue { $0 } }
    func set() { value.withLockedValue { $0 = true } }
}

/// How many of the connections the host has ended.
func ended(_ connections: [HeldConnection]) -> Int {
    connections.count { $0.isEnded }
}
