import CompanionWire
import Discovery
import FoundationEssentials
import Glibc
import NIOCore
import NIOPosix

/// The user's message bus, over which the programs of a desktop speak to each other.
struct DesktopBus: Sendable {
    /// Why the bus, or a service on it, could not be asked.
    struct Failure: Error, Sendable, CustomStringConvertible {
        var description: String
        /// The name of the error that a service has answered with.
        var errorName: String?
    }

    private let channel: any Channel
    /// The signals that this connection gets: those it has asked for, and what others address to it. Ends with the
    /// connection.
    let signals: AsyncStream<DBusMessage>

    /// How long the bus and each service may take to answer.
    private static let patience = TimeAmount.seconds(5)

    /// The socket of the user's bus: as `DBUS_SESSION_BUS_ADDRESS` says, else where systemd has it. Nil if there is
    /// none.
    static func path(environment: [String: String]) -> String? {
        if let address = environment["DBUS_SESSION_BUS_ADDRESS"], !address.isEmpty {
            return DaemonReport.socketPath(inAddress: address)
        }
        guard let directory = environment["XDG_RUNTIME_DIR"], directory.begins(with: "/") else { return nil }
        return FileManager.default.fileExists(atPath: directory + "/bus") ? directory + "/bus" : nil
    }

    /// Connects, runs `body`, and disconnects.
    ///
    /// - Throws: ``Failure`` where the bus does not answer, and what `body` throws.
    static func with<R>(
        path: String,
        isolation: isolated (any Actor)? = #isolation,
        _ body: (DesktopBus) async throws -> R
    ) async throws -> R {
        let (signals, continuation) = AsyncStream.makeStream(
            of: DBusMessage.self,
            bufferingPolicy: .bufferingNewest(1024)
        )
        let group = MultiThreadedEventLoopGroup.singleton
        let ready = group.any().makePromise(of: Void.self)
        let user = String(geteuid())
        let channel: any Channel
        do {
            channel = try await ClientBootstrap(group: group)
                .connectTimeout(patience)
                .channelInitializer { channel in
                    channel.eventLoop.makeCompletedFuture {
                        try channel.pipeline.syncOperations.addHandler(
                            DesktopBusHandler(user: user, patience: patience, ready: ready, signals: continuation)
                        )
                    }
                }
                .connect(unixDomainSocketPath: path).get()
        } catch {
            ready.fail(error)
            continuation.finish()
            let reason = (error as? IOError).map { String(cString: strerror($0.errnoCode)) } ?? "\(error)"
            throw Failure(description: "the desktop's message bus at \(path) cannot be reached: \(reason)")
        }
        do {
            try await ready.futureResult.get()
            let bus = DesktopBus(channel: channel, signals: signals)
            let name = "org.freedesktop.DBus"
            try await bus.call(.call("Hello", interface: name, path: "/org/freedesktop/DBus", destination: name))
            let result = try await body(bus)
            try? await channel.close()
            return result
        } catch {
            try? await channel.close()
            throw error
        }
    }

    /// Calls a method and waits for its answer.
    ///
    /// - Throws: ``Failure``, with the error's name where the service refuses.
    @discardableResult
    func call(_ message: DBusMessage) async throws -> DBusMessage {
        let promise = channel.eventLoop.makePromise(of: DBusMessage.self)
        // A closed channel has no handler any more that could tell.
        channel.writeAndFlush(DesktopBusCall(message: message, answer: promise)).whenFailure { error in
            promise.fail(Failure(description: "the connection to the desktop's message bus has ended: \(error)"))
        }
        let answer = try await promise.futureResult.get()
        guard answer.kind == .error else { return answer }
        throw Failure(
            description: "\(message.destination ?? "the bus") refuses \(message.member ?? "the call"): "
                + (answer.body.first?.text ?? answer.errorName ?? "no reason"),
            errorName: answer.errorName
        )
    }

    /// Asks for a service's signals.
    ///
    /// - Parameter path: The object that they come from. Default: nil, any.
    func listen(to interface: String, of service: String, path: String? = nil) async throws {
        let place = path.map { ",path='\($0)'" } ?? ""
        let rule = "type='signal',sender='\(service)',interface='\(interface)'\(place)"
        let name = "org.freedesktop.DBus"
        try await call(
            .call("AddMatch", interface: name, path: "/org/freedesktop/DBus", destination: name, [.string(rule)])
        )
    }
}
