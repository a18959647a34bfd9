import FoundationEssentials
import Glibc

/// Speaks HTTP/1.1 over a plain socket: any client address, any header, any bytes.
struct RawConnection: ~Copyable {
    private let descriptor: Int32

    /// - Parameters:
    ///   - target: The host's address.
    ///   - source: The client's own address.
    init(port: Int, to target: String = "127.0.0.1", from source: String = "127.0.0.1") throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var local = Self.address(source, port: 0)
        var remote = Self.address(target, port: UInt16(port))
        let size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafePointer(to: &local) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, size) }
        }
        let isConnected = withUnsafePointer(to: &remote) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(descriptor, $0, size) }
        }
        guard isBound == 0, isConnected == 0 else { throw TestFailure("no connection: \(errno)") }
    }

    deinit {
        close(descriptor)
    }

    func send(_ text: String) throws {
        var bytes = Array(text.utf8)[...]
        while !bytes.isEmpty {
            let count = bytes.withUnsafeBytes { Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            guard count > 0 else { throw TestFailure("send failed: \(errno)") }
            bytes = bytes.dropFirst(count)
        }
    }

    /// Reads until a text has arrived, or the end.
    func read(until end: String? = nil) -> String {
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            let count = recv(descriptor, &chunk, chunk.count, 0)
            guard count > 0 else { break }
            bytes += chunk[..<count]
            if let end, String(decoding: bytes, as: UTF8.self).contains(end) { break }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func address(_ text: String, port: UInt16) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        inet_pton(AF_INET, text, &address.sin_addr)
        return address
    }
}

/// Runs blocking work on a thread of its own: tasks and dispatch queues share their threads on Linux, and the host
/// under test needs them.
func blocking<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
        let job = Unmanaged.passRetained(ThreadJob { continuation.resume(with: Result { try work() }) })
        var thread = pthread_t()
        let code = pthread_create(&thread, nil, runThreadJob, job.toOpaque())
        guard code == 0 else {
            job.release()
            continuation.resume(throwing: TestFailure("no thread: \(code)"))
            return
        }
        pthread_detach(thread)
    }
}

private final class ThreadJob: Sendable {
    let work: @Sendable () -> Void
    init(_ work: @escaping @Sendable () -> Void) { self.work = work }
}

private func runThreadJob(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    guard let context else { return nil }
    Unmanaged<ThreadJob>.fromOpaque(context).takeRetainedValue().work()
    return nil
}

extension TestHost {
    /// Sends one request as it is written and reads all of the answer.
    func raw(
        _ method: String,
        _ path: String,
        headers: [String] = ["Host: 127.0.0.1"],
        body: String = "",
        to target: String = "127.0.0.1",
        from source: String = "127.0.0.1"
    ) async throws -> Reply {
        let port = port
        let length = body.isEmpty ? [] : ["Content-Length: \(body.utf8.count)", "Content-Type: application/json"]
        let lines = ["\(method) \(path) HTTP/1.1"] + headers + length + ["Connection: close", "", body]
        let text = try await blocking {
            let connection = try RawConnection(port: port, to: target, from: source)
            try connection.send(lines.joined(separator: "\r\n"))
            return connection.read()
        }
        return try Reply(http: text)
    }
}

extension Reply {
    /// Reads an HTTP/1.1 answer; chunks are put together.
    init(http text: String) throws {
        let parts = text.components(separatedBy: "\r\n\r\n")
        let lines = (parts.first ?? "").components(separatedBy: "\r\n")
        guard let status = lines.first?.split(separator: " ").dropFirst().first.flatMap({ Int($0) }) else {
            throw TestFailure("no HTTP answer: \(text.prefix(200))")
        }
        let headers = lines.dropFirst().map { line in
            let field = line.split(separator: ":", maxSplits: 1)
            return (name: field[0].lowercased(), value: field.count > 1 ? String(field[1].dropFirst()) : "")
        }
        var body = parts.dropFirst().joined(separator: "\r\n\r\n")
        if headers.contains(where: { $0.name == "transfer-encoding" && $0.value == "chunked" }) {
            body = Self.unchunked(body)
        }
        self.init(status: status, headers: headers, body: body)
    }

    private static func unchunked(_ text: String) -> String {
        var rest = Array(text.utf8)[...]
        var body: [UInt8] = []
        while let end = rest.firstIndex(of: 13),
            let size = Int(String(decoding: rest[..<end], as: UTF8.self), radix: 16)
        {
            let start = end + 2
            guard size > 0, start + size <= rest.endIndex else { break }
            body += rest[start..<(start + size)]
            rest = rest[(start + size + 2)...]
        }
        return String(decoding: body, as: UTF8.self)
    }
}
