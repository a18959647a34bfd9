import CompanionWire
import Discovery
import Glibc
import Synchronization

/// A peer that answers every mDNS query for its type on `lo` with the bytes that it was told to, however wrong.
final class RawResponder: Sendable {
    struct Answer: Sendable {
        var instance: [UInt8]
        var target = "raw-host"
        var port: UInt16 = 7878
        var txt: [[UInt8]] = []
        /// Whether there is an address for the target.
        var hasAddress = true
        var address: [UInt8] = [127, 0, 0, 1]
    }

    private let socket: Int32
    private let isStopping = Atomic(false)
    private let type: ServiceType
    private let packet: Mutex<[UInt8]>

    /// Answers until `body` returns.
    static func run<Result: Sendable>(
        _ type: ServiceType,
        _ answer: Answer,
        _ body: @Sendable () async throws -> Result
    ) async throws -> Result {
        try await run(type, answer) { _ in try await body() }
    }

    /// Answers until `body`, which may change the answer, returns.
    static func run<Result: Sendable>(
        _ type: ServiceType,
        _ answer: Answer,
        _ body: @Sendable (RawResponder) async throws -> Result
    ) async throws -> Result {
        let responder = try RawResponder(type, answer)
        var thread = pthread_t()
        let context = Unmanaged.passRetained(responder).toOpaque()
        pthread_create(&thread, nil, serve, context)
        defer {
            responder.isStopping.store(true, ordering: .relaxed)
            pthread_join(thread, nil)
        }
        return try await body(responder)
    }

    /// Answers differently from now on.
    func change(to answer: Answer) {
        packet.withLock { $0 = Self.packet(type, answer) }
    }

    /// Sends its answer unasked, as a host does whose records have changed (RFC 6762, section 8.4).
    func announce() {
        send()
    }

    private init(_ type: ServiceType, _ answer: Answer) throws {
        self.type = type
        packet = Mutex(Self.packet(type, answer))
        socket = Glibc.socket(AF_INET, Int32(SOCK_DGRAM.rawValue), 0)
        func set<Value>(_ level: Int, _ option: Int32, _ value: Value) {
            withUnsafeBytes(of: value) {
                _ = setsockopt(socket, Int32(level), option, $0.baseAddress, socklen_t($0.count))
            }
        }
        set(Int(SOL_SOCKET), SO_REUSEADDR, Int32(1))
        set(Int(SOL_SOCKET), SO_REUSEPORT, Int32(1))
        // The thread looks whether it is to stop this often.
        set(Int(SOL_SOCKET), SO_RCVTIMEO, timeval(tv_sec: 0, tv_usec: 50_000))
        let loopback = in_addr(s_addr: UInt32(0x7f00_0001).bigEndian)
        let group = in_addr(s_addr: UInt32(0xe000_00fb).bigEndian)
        set(Int(IPPROTO_IP), IP_MULTICAST_IF, loopback)
        set(Int(IPPROTO_IP), IP_MULTICAST_TTL, Int32(255))
        set(Int(IPPROTO_IP), IP_ADD_MEMBERSHIP, ip_mreq(imr_multiaddr: group, imr_interface: loopback))
        var address = Self.address(0)
        let status = withUnsafeBytes(of: &address) {
            bind(socket, $0.assumingMemoryBound(to: sockaddr.self).baseAddress, socklen_t($0.count))
        }
        // Port 5353 is mDNS itself: answers from any other port are ignored.
        guard status == 0 else { throw DiscoveryError(.engineUnavailable, message: "cannot bind: \(errno)") }
    }

    deinit {
        close(socket)
    }

    fileprivate func loop() {
        var buffer = [UInt8](repeating: 0, count: 9000)
        while !isStopping.load(ordering: .relaxed) {
            let count = recv(socket, &buffer, buffer.count, 0)
            // A query (QR = 0) that holds the type's label somewhere.
            guard count > 12, buffer[2] & 0x80 == 0, contains(buffer[..<count]) else { continue }
            send()
        }
    }

    private func send() {
        let packet = self.packet.withLock { $0 }
        var target = Self.address(UInt32(0xe000_00fb).bigEndian)
        _ = withUnsafeBytes(of: &target) {
            sendto(
                socket,
                packet,
                packet.count,
                0,
                $0.assumingMemoryBound(to: sockaddr.self).baseAddress,
                socklen_t($0.count)
            )
        }
    }

    private func contains(_ query: ArraySlice<UInt8>) -> Bool {
        let label = Array(type.rawValue.prefix { $0 != "." }.utf8)
        return query.indices.contains { query[$0...].starts(with: label) }
    }

    private static func address(_ address: UInt32) -> sockaddr_in {
        var result = sockaddr_in()
        result.sin_family = sa_family_t(AF_INET)
        result.sin_port = UInt16(5353).bigEndian
        result.sin_addr = in_addr(s_addr: address)
        return result
    }

    /// One response (RFC 1035, section 4.1) with PTR, SRV, TXT and A records.
    private static func packet(_ type: ServiceType, _ answer: Answer) -> [UInt8] {
        func name(_ labels: [[UInt8]]) -> [UInt8] { labels.flatMap { [UInt8($0.count)] + $0 } + [0] }
        func number(_ value: Int) -> [UInt8] { [UInt8(value >> 8), UInt8(value & 0xff)] }
        func record(_ owner: [UInt8], _ kind: Int, unique: Bool, _ data: [UInt8]) -> [UInt8] {
            owner + number(kind) + number(unique ? 0x8001 : 1) + [0, 0, 0, 120] + number(data.count) + data
        }
        let domain = type.rawValue.split(separator: ".").map { Array($0.utf8) } + [Array("local".utf8)]
        let instance = name([answer.instance] + domain)
        let host = name([Array(answer.target.utf8), Array("local".utf8)])
        let txt: [UInt8] =
            answer.txt.isEmpty
            ? [0]
            : answer.txt.flatMap { string -> [UInt8] in
                [UInt8(string.count)] + string
            }
        var records: [[UInt8]] = [
            record(name(domain), 12, unique: false, instance),
            record(instance, 33, unique: true, [0, 0, 0, 0] + number(Int(answer.port)) + host),
            record(instance, 16, unique: true, txt),
        ]
        if answer.hasAddress { records.append(record(host, 1, unique: true, answer.address)) }
        return [0, 0, 0x84, 0, 0, 0] + number(records.count) + [0, 0, 0, 0] + records.flatMap { $0 }
    }
}

private func serve(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    guard let context else { return nil }
    Unmanaged<RawResponder>.fromOpaque(context).takeRetainedValue().loop()
    return nil
}
