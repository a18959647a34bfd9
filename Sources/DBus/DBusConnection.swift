import CDBus
import CompanionWire
import Dispatch
import Glibc
import LocalState

/// A connection to a message bus, over libdbus. libdbus and its pointers are used on the actor's own queue alone.
package actor DBusConnection {
    private struct PendingCall {
        var service: String
        var member: String
        var reply: CheckedContinuation<DBusMessage, any Error>
    }

    /// The largest message that is accepted, in bytes; the connection to a bus that sends more is closed. The
    /// specification's default is 128 MiB; no service used here sends as much.
    private static let messageLimit = 1 << 20

    private nonisolated let executor = QueueExecutor(label: "pairtool.dbus")
    private let address: DBusAddress
    /// How long the bus and each service may take to answer.
    private let limit: Duration
    private var connection: OpaquePointer?
    private var source: (any DispatchSourceRead)?
    private var calls: [UInt32: PendingCall] = [:]
    private(set) var listeners: [Int: (interface: String, signals: AsyncStream<DBusMessage>.Continuation)] = [:]
    private var lastListener = 0

    package nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    private init(_ address: DBusAddress, limit: Duration) {
        self.address = address
        self.limit = limit
    }

    isolated deinit {
        close()
    }

    /// Connects, runs `body`, and disconnects.
    ///
    /// - Parameter limit: How long the bus and each service may take to answer. Default: 5 s.
    /// - Throws: ``DBusError`` where the bus does not answer, `CancellationError`, and what `body` throws.
    package static func with<R>(
        _ address: DBusAddress,
        limit: Duration = .seconds(5),
        isolation: isolated (any Actor)? = #isolation,
        _ body: (DBusConnection) async throws -> R
    ) async throws -> R {
        let bus = DBusConnection(address, limit: limit)
        let opened: Void? = try await abandoning(after: limit) { try await bus.open() }
        try Task.checkCancellation()
        guard opened != nil else { throw DBusError.silence(of: "the message bus at \(address)") }
        do {
            // By this the connection gets its name.
            try await bus.call("Hello", of: .bus)
            let result = try await body(bus)
            await bus.close()
            return result
        } catch {
            await bus.close()
            throw error
        }
    }

    /// Calls a method and waits for its reply.
    ///
    /// - Parameter startsService: Whether the bus starts a service that it knows and that does not run.
    /// - Throws: ``DBusError``, also where the service refuses, or `CancellationError`.
    @discardableResult
    package func call(
        _ member: String,
        of interface: DBusInterface,
        with arguments: [DBusValue] = [],
        startsService: Bool = true
    ) async throws -> DBusMessage {
        let serial = try send(member, of: interface, with: arguments, startsService: startsService)
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { reply in
                calls[serial] = PendingCall(service: interface.service, member: member, reply: reply)
                let silence = DBusError.silence(of: interface.service)
                executor.queue.asyncAfter(deadline: .now() + limit / .seconds(1)) { [weak self] in
                    self?.assumeIsolated { $0.end(serial, with: silence) }
                }
                receive()
            }
        } onCancel: {
            Task { await end(serial, with: CancellationError()) }
        }
    }

    /// The signals of an interface: those of the service, and what other programs address to this connection, whose
    /// sender therefore has to be looked at.
    ///
    /// - Parameter path: The object of the service that they come from. Default: nil, any.
    /// - Returns: The signals from now on. If more than 1024 are unread, the oldest are dropped. It ends with the
    ///   connection.
    /// - Throws: ``DBusError`` where the bus refuses or does not answer, or `CancellationError`.
    package func signals(
        of interface: String,
        from service: String,
        path: String? = nil
    ) async throws -> AsyncStream<DBusMessage> {
        let place = path.map { ",path='\($0)'" } ?? ""
        let rule = "type='signal',sender='\(service)',interface='\(interface)'\(place)"
        let (signals, continuation) = AsyncStream.makeStream(
            of: DBusMessage.self,
            bufferingPolicy: .bufferingNewest(1024)
        )
        lastListener += 1
        let number = lastListener
        // Signals may come right behind the reply.
        listeners[number] = (interface, continuation)
        do {
            try await call("AddMatch", of: .bus, with: [.string(rule)])
        } catch {
            listeners.removeValue(forKey: number)?.signals.finish()
            throw error
        }
        return signals
    }

    /// Connects and authenticates. Blocks.
    private func open() throws {
        var error = CDBus.DBusError()
        dbus_error_init(&error)
        defer { dbus_error_free(&error) }
        guard let connection = dbus_connection_open_private(address.text, &error) else {
            var failure = DBusError(error)
            // “Failed to connect to socket PATH: REASON”
            let reason = failure.description.parts(":").last.map { $0.dropping(prefix: " ") ?? $0 } ?? ""
            failure.description = "the message bus at \(address) cannot be reached: \(reason)"
            throw failure
        }
        dbus_connection_set_exit_on_disconnect(connection, 0)
        dbus_connection_set_max_message_size(connection, Self.messageLimit)
        var descriptor: Int32 = -1
        dbus_connection_get_unix_fd(connection, &descriptor)
        // libdbus closes its descriptor when the connection breaks, and a source may watch only one that stays open.
        let watched = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
        guard watched >= 0 else {
            dbus_connection_close(connection)
            dbus_connection_unref(connection)
            throw DBusError.noDescriptor
        }
        let source = DispatchSource.makeReadSource(fileDescriptor: watched, queue: executor.queue)
        // Safe because the source ends on the actor's queue, and `connection` is nil from then on.
        nonisolated(unsafe) let ended = connection
        source.setCancelHandler {
            dbus_connection_close(ended)
            dbus_connection_unref(ended)
            _ = Glibc.close(watched)
        }
        source.setEventHandler { [weak self] in self?.assumeIsolated { $0.receive() } }
        self.connection = connection
        self.source = source
        source.activate()
        try work(connection) { dbus_connection_get_is_authenticated(connection) == 0 }
    }

    private func close() {
        connection = nil
        source?.cancel()
        for serial in calls.keys { end(serial, with: DBusError.hungUp) }
        for listener in listeners.values { listener.signals.finish() }
        listeners = [:]
    }

    private func send(
        _ member: String,
        of interface: DBusInterface,
        with arguments: [DBusValue],
        startsService: Bool
    ) throws -> UInt32 {
        guard let connection else { throw DBusError.hungUp }
        guard let message = dbus_message_new_method_call(interface.service, interface.path, interface.name, member)
        else { throw DBusError.noMemory }
        defer { dbus_message_unref(message) }
        dbus_message_set_auto_start(message, startsService ? 1 : 0)
        try DBusValue.append(arguments, to: message)
        var serial: UInt32 = 0
        guard dbus_connection_send(connection, message, &serial) != 0 else { throw DBusError.noMemory }
        try work(connection) { dbus_connection_has_messages_to_send(connection) != 0 }
        return serial
    }

    /// Lets libdbus read and write as long as a condition holds. Blocks, but this connection alone, which has to wait.
    private func work(_ connection: OpaquePointer, while isWanted: () -> Bool) throws {
        let deadline = ContinuousClock.now + limit
        while isWanted() {
            try Task.checkCancellation()
            guard dbus_connection_get_is_connected(connection) != 0 else {
                close()
                throw DBusError.hungUp
            }
            guard .now < deadline else { throw DBusError.silence(of: "the message bus at \(address)") }
            dbus_connection_read_write(connection, 100)
        }
    }

    private func receive() {
        guard let connection else { return }
        dbus_connection_read_write(connection, 0)
        while let message = dbus_connection_pop_message(connection) {
            take(message)
            dbus_message_unref(message)
        }
        if dbus_connection_get_is_connected(connection) == 0 { close() }
    }

    private func take(_ message: OpaquePointer) {
        switch dbus_message_get_type(message) {
        case DBUS_MESSAGE_TYPE_METHOD_RETURN:
            calls.removeValue(forKey: dbus_message_get_reply_serial(message))?.reply.resume(
                returning: DBusMessage(message)
            )
        case DBUS_MESSAGE_TYPE_ERROR:
            let serial = dbus_message_get_reply_serial(message)
            guard let call = calls[serial] else { return }
            let name = dbus_message_get_error_name(message).map { String(cString: $0) } ?? ""
            let reason = DBusMessage(message).values.first?.string ?? name
            end(serial, with: DBusError(name: name, description: "\(call.service) refuses \(call.member): \(reason)"))
        case DBUS_MESSAGE_TYPE_SIGNAL:
            let signal = DBusMessage(message)
            for listener in listeners.values where listener.interface == signal.interface {
                listener.signals.yield(signal)
            }
        // No other program has a reason to call this connection.
        default: break
        }
    }

    private func end(_ serial: UInt32, with error: any Error) {
        calls.removeValue(forKey: serial)?.reply.resume(throwing: error)
    }
}
