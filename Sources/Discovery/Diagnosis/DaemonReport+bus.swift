import CompanionWire
internal import Glibc

extension DaemonReport {
    /// Asks the bus. Blocks for up to `limit`: not to be called on a cooperative thread.
    ///
    /// - Parameter address: The bus's address, as in `DBUS_SYSTEM_BUS_ADDRESS`. Default: nil, the system's usual one.
    package static func ask(address: String?, limit: Duration) -> DaemonReport {
        let path = address.flatMap(socketPath(inAddress:)) ?? BusSocket.systemPath
        let deadline = ContinuousClock.now + limit
        let bus: BusConnection
        do {
            bus = try BusConnection(path: path, deadline: deadline)
        } catch let failure {
            return failure.isMissing ? .noBus(path: path) : .busBroken(path: path, reason: failure.reason)
        }
        defer { bus.close() }
        do {
            guard case .text(let version) = try bus.askDaemon("GetVersionString") else { return .noDaemon }
            guard case .text(let hostName) = try bus.askDaemon("GetHostNameFqdn"),
                case .number(let state) = try bus.askDaemon("GetState")
            else { return .daemonBroken("it gives no host name") }
            return .daemon(version: version, hostName: hostName, state: State(rawValue: state) ?? .invalid)
        } catch let failure {
            return .daemonBroken(failure.reason)
        }
    }
}

/// A connection to a message bus (D-Bus specification, Authentication Protocol: EXTERNAL), for a few questions.
private final class BusConnection {
    struct Failure: Error {
        var reason: String
        var isMissing = false
    }

    private let descriptor: Int32
    private let deadline: ContinuousClock.Instant
    private var serial: UInt32 = 0
    private var received: [UInt8] = []

    init(path: String, deadline: ContinuousClock.Instant) throws(Failure) {
        self.deadline = deadline
        descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw Failure(reason: String(cString: strerror(errno))) }
        do throws(Failure) {
            try connect(to: path)
            try write(BusSocket.introduction)
            guard try line().begins(with: "OK ") else { throw Failure(reason: "it refuses this user") }
            try write(BusSocket.beginning)
            _ = try ask(.hello)
        } catch {
            Glibc.close(descriptor)
            throw error
        }
    }

    func close() {
        Glibc.close(descriptor)
    }

    /// - Returns: nil where the bus knows no daemon.
    func askDaemon(_ member: String) throws(Failure) -> BusMessage.Value? {
        try ask(.avahi(member))
    }

    private func ask(_ call: BusCall) throws(Failure) -> BusMessage.Value? {
        serial += 1
        try write(call.bytes(serial: serial))
        while true {
            let message = try message()
            guard message.replySerial == serial else { continue }
            guard message.kind == .error else { return message.value }
            let name = message.errorName ?? "no name"
            guard ["ServiceUnknown", "NameHasNoOwner"].contains(where: name.hasSuffix) else {
                throw Failure(reason: "it refuses: \(name)")
            }
            return nil
        }
    }

    private func message() throws(Failure) -> BusMessage {
        do {
            while true {
                if let size = try BusMessage.size(of: received), size <= received.count {
                    defer { received.removeFirst(size) }
                    return try BusMessage(parsing: Array(received[..<size]))
                }
                try receive()
            }
        } catch let failure as Failure {
            throw failure
        } catch {
            throw Failure(reason: "it does not speak D-Bus")
        }
    }

    private func line() throws(Failure) -> String {
        while true {
            if let end = received.firstIndex(of: UInt8(ascii: "\n")) {
                defer { received.removeFirst(end + 1) }
                return String(decoding: received[..<end], as: UTF8.self)
            }
            try receive()
        }
    }

    private func connect(to path: String) throws(Failure) {
        // A Unix socket's connect blocks only while the listener's queue is full: the limit is that of sending.
        var limit = timeval(tv_sec: 1, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        let number = BusSocket.connect(descriptor, to: path)
        guard number == 0 else {
            throw Failure(reason: String(cString: strerror(number)), isMissing: number == ENOENT || number == ENOTDIR)
        }
    }

    private func write(_ bytes: [UInt8]) throws(Failure) {
        guard send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count else {
            throw Failure(reason: String(cString: strerror(errno)))
        }
    }

    private func receive() throws(Failure) {
        let left = deadline - .now
        var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        guard left > .zero, poll(&entry, 1, Int32(left / .milliseconds(1)) + 1) > 0 else {
            throw Failure(reason: "it does not answer")
        }
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = recv(descriptor, &buffer, buffer.count, 0)
        guard count > 0 else { throw Failure(reason: "it hangs up") }
        received += buffer[..<count]
    }
}
