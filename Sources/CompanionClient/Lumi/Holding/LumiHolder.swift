import Glibc

/// Keeps a connection that a Mac's user has accepted for the commands that follow, and relays them, one after the other.
///
/// It ends by itself: when nobody has come or asked for anything for a while, when the Mac closes the connection, or
/// when it is told to.
package struct LumiHolder {
    /// For a write that the other side does not take.
    private static let writeLimit = 20

    private let mac: Int32
    private let listener: Int32
    private let path: String
    private let idle: Duration
    private let answerLimit: Duration
    private var relay: LumiRelay
    private var client: Int32?
    private var isOver = false

    /// - Parameters:
    ///   - mac: The connected socket, with nothing under way.
    ///   - listener: A Unix socket that listens at a path.
    ///   - idle: For how long it waits for the next command.
    ///   - answerLimit: For how long it waits for an answer, and at least for a silent client: a client that has waited
    ///     that long has given up.
    package init(
        mac: Int32,
        listener: Int32,
        path: String,
        generation: LumiGeneration,
        idle: Duration,
        answerLimit: Duration = .seconds(40)
    ) {
        self.mac = mac
        self.listener = listener
        self.path = path
        self.idle = idle
        self.answerLimit = answerLimit
        relay = LumiRelay(generation: generation)
    }

    /// Relays until it is over. Blocks.
    package mutating func run() {
        // It blocks only where it writes; what there is to read is known before.
        _ = fcntl(mac, F_SETFL, fcntl(mac, F_GETFL) & ~O_NONBLOCK)
        limitWrites(mac)
        let place = Self.file(path)
        var deadline = ContinuousClock.now + idle
        while !isOver {
            let unanswered = relay.unanswered
            var waiting = [pollfd(fd: mac, events: Int16(POLLIN), revents: 0)]
            // No other client may connect before the answer is there.
            if let client {
                waiting.append(pollfd(fd: client, events: Int16(POLLIN), revents: 0))
            } else if relay.unanswered == 0 {
                waiting.append(pollfd(fd: listener, events: Int16(POLLIN), revents: 0))
            }
            let count = poll(&waiting, nfds_t(waiting.count), Self.milliseconds(until: deadline))
            if count == 0 || count < 0 && errno != EINTR { break }
            guard count > 0 else { continue }
            for place in waiting where place.revents != 0 {
                switch place.fd {
                case mac: readMac()
                case listener: accept()
                default: readClient()
                }
            }
            // Frames that the Mac sends unasked do not extend the deadline.
            if relay.unanswered != unanswered || waiting.dropFirst().contains(where: { $0.revents != 0 }) {
                let limit = client == nil ? idle : max(idle, answerLimit)
                deadline = .now + (relay.unanswered > 0 ? answerLimit : limit)
            }
        }
        // Another holder may use the path by now.
        if let place, Self.file(path) == place { unlink(path) }
        if let client { close(client) }
        close(listener)
        close(mac)
    }

    private mutating func readMac() {
        guard let bytes = Self.read(mac) else {
            isOver = true
            return
        }
        perform(relay.mac(bytes))
    }

    private mutating func readClient() {
        guard let client else { return }
        guard let bytes = Self.read(client) else { return leaveClient() }
        perform(relay.client(bytes))
    }

    private mutating func perform(_ actions: [LumiRelay.Action]) {
        for action in actions where !isOver {
            switch action {
            case .toMac(let frame): if !Self.write(frame, to: mac) { isOver = true }
            case .toClient(let frame): if let client, !Self.write(frame, to: client) { leaveClient() }
            case .leaveClient: leaveClient()
            case .end: isOver = true
            }
        }
    }

    /// Takes the next command in, where it is this user's.
    private mutating func accept() {
        let descriptor = Glibc.accept(listener, nil, nil)
        guard descriptor >= 0 else { return }
        guard Self.user(of: descriptor) == geteuid() else {
            close(descriptor)
            return
        }
        limitWrites(descriptor)
        client = descriptor
        relay.clientCame()
    }

    private mutating func leaveClient() {
        if let client { close(client) }
        client = nil
        relay.clientLeft()
    }

    // MARK: Sockets

    private func limitWrites(_ descriptor: Int32) {
        var limit = timeval(tv_sec: Self.writeLimit, tv_usec: 0)
        _ = setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    }

    /// - Returns: nil at the end of the connection.
    private static func read(_ descriptor: Int32) -> [UInt8]? {
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        let count = recv(descriptor, &buffer, buffer.count, Int32(MSG_DONTWAIT))
        if count > 0 { return Array(buffer.prefix(count)) }
        return count < 0 && (errno == EAGAIN || errno == EINTR) ? [] : nil
    }

    /// - Returns: Whether all of it was taken.
    private static func write(_ bytes: [UInt8], to descriptor: Int32) -> Bool {
        var start = 0
        while start < bytes.count {
            let count = bytes.withUnsafeBytes {
                send(descriptor, $0.baseAddress! + start, bytes.count - start, Int32(MSG_NOSIGNAL))
            }
            if count > 0 { start += count } else if count == 0 || errno != EINTR { return false }
        }
        return true
    }

    /// `struct ucred`, which the C library's module does not show.
    private struct PeerCredentials {
        var process: Int32 = 0
        var user: UInt32 = .max
        var group: UInt32 = .max
    }

    /// The user of the process at the other end of a Unix socket; nil where the kernel does not say.
    package static func user(of descriptor: Int32) -> UInt32? {
        var credentials = PeerCredentials()
        var size = socklen_t(MemoryLayout<PeerCredentials>.size)
        guard getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &credentials, &size) == 0 else { return nil }
        return credentials.user
    }

    private struct File: Equatable {
        var device: UInt
        var number: UInt
    }

    private static func file(_ path: String) -> File? {
        var status = stat()
        return lstat(path, &status) == 0 ? File(device: UInt(status.st_dev), number: UInt(status.st_ino)) : nil
    }

    private static func milliseconds(until deadline: ContinuousClock.Instant) -> Int32 {
        let left = (deadline - .now).components
        return Int32(clamping: max(0, left.seconds * 1000 + left.attoseconds / 1_000_000_000_000_000 + 1))
    }
}
