import Dispatch
import FoundationEssentials
import Glibc
import Testing

@testable import DBus

@Suite("The D-Bus client", .timeLimit(.minutes(15))) struct DBusTests {
    private static let odd = DBusInterface(
        "org.example.Odd",
        path: "/org/freedesktop/Notifications",
        service: "org.example.Odd"
    )

    @Test(
        "Addresses name Unix sockets, for which the first path stands; of the others, some would start programs",
        arguments: [
            ("unix:path=/run/dbus/system_bus_socket", "/run/dbus/system_bus_socket"),
            ("tcp:host=localhost;unix:guid=ab,path=/tmp/bus", "/tmp/bus"),
            ("unix:abstract=/tmp/x", "unix:abstract=/tmp/x"),
            ("unix:path=/tmp/a%20bus%2c1", "/tmp/a bus,1"), ("unix:path=/tmp/%2", "unix:path=/tmp/%2"), ("", nil),
            ("autolaunch:", nil), ("unixexec:path=/bin/true;tcp:host=localhost", nil),
        ]
    )
    func address(text: String, description: String?) {
        #expect(DBusAddress(text)?.description == description)
        let system = DBusAddress.system(environment: ["DBUS_SYSTEM_BUS_ADDRESS": text])
        #expect(system.description == description ?? "/run/dbus/system_bus_socket")
    }

    @Test("The user's bus is where the environment says, else where systemd has it")
    func session() async throws {
        try await Sandbox.with { user in
            let folder = user.directory + "/run, 100 %"
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            var environment = ["XDG_RUNTIME_DIR": folder, "DBUS_SESSION_BUS_ADDRESS": ""]
            #expect(DBusAddress.session(environment: environment) == nil)
            let bus = try #require(SilentBus(path: folder + "/bus"))
            #expect(DBusAddress.session(environment: environment)?.description == folder + "/bus")
            // Reached, and silent: libdbus understands the address.
            let address = try #require(DBusAddress.session(environment: environment))
            let error = await failure { try await DBusConnection.with(address, limit: .milliseconds(50)) { _ in } }
            #expect(error?.description == "the message bus at \(folder)/bus does not answer")
            environment["DBUS_SESSION_BUS_ADDRESS"] = "unix:path=/else"
            #expect(DBusAddress.session(environment: environment)?.description == "/else")
            bus.close()
        }
    }

    @Test("Values of every known type arrive as they were sent", .enabled(if: PrivateBus.missing.isEmpty))
    func values() async throws {
        try await withOdd { bus in
            let entries: [String: DBusValue] = [
                "y": .byte(255), "b": .bool(false), "i": .int32(.min), "u": .uint32(.max), "s": .string("ü\u{202E}"),
                "as": .strings([]), "a{sv}": .dictionary(["": .dictionary([:])]),
            ]
            let values: [DBusValue] = [
                .byte(1), .bool(true), .int32(-3), .uint32(4), .string(""), .strings(["a", "", "ü"]),
                .dictionary(entries),
            ]
            #expect(try await bus.call("Turn", of: Self.odd, with: values).values == values.reversed())
            // More than a socket takes at once.
            let long = String(repeating: "x", count: 900_000)
            let reply = try await bus.call("Turn", of: Self.odd, with: values[..<4] + [.string(long)] + values[5...])
            #expect(reply.values[2] == .string(long))
        }
    }

    @Test(
        "Values of other types are passed over, and what is about them is read",
        .enabled(if: PrivateBus.missing.isEmpty)
    )
    func otherTypes() async throws {
        try await withOdd { bus in
            let values = try await bus.call("Types", of: Self.odd).values
            let other = [DBusValue](repeating: .other, count: 5)
            let text: [DBusValue] = [.string("/o"), .string("s"), .string("deep"), .other]
            let arrays: [DBusValue] = [
                .other, .other, .other, .other, .dictionary(["a": .string("b")]),
                .dictionary(["in": .dictionary(["x": .bool(true)])]), .string("end"),
            ]
            #expect(values == other + text + arrays)
            // What cannot be sent is left out: the service is given too little.
            let error = await failure { try await bus.call("Size", of: Self.odd, with: [.other]) }
            #expect(error?.isAny(of: "InvalidArgs", "TypeError") == true, "\(String(describing: error))")
        }
    }

    @Test(
        "A refusal has the name and the words of the service; a service that is not there is told apart",
        .enabled(if: PrivateBus.missing.isEmpty)
    )
    func refusals() async throws {
        try await withOdd { bus in
            let refused = await failure { try await bus.call("Refuse", of: Self.odd) }
            #expect(refused?.name == "org.example.Odd.Tired")
            #expect(refused?.description == "org.example.Odd refuses Refuse: not today")
            let nobody = DBusInterface("org.example.None", path: "/", service: "org.example.None")
            let absent = await failure { try await bus.call("Go", of: nobody) }
            #expect(absent?.isAny(of: "ServiceUnknown") == true)
            let here = DBusInterface("org.example.None", path: "/", service: "org.example.Odd")
            let unknown = await failure { try await bus.call("Go", of: here) }
            #expect(unknown?.isAny(of: "UnknownMethod") == true)
        }
    }

    @Test(
        "A service that does not answer ends its call at the limit, and cancelling ends it at once; others go on",
        .enabled(if: PrivateBus.missing.isEmpty)
    )
    func silence() async throws {
        try await withOdd(limit: .seconds(10)) { bus in
            let silent = await failure { try await bus.call("Keep", of: Self.odd) }
            #expect(silent?.description == "org.example.Odd does not answer")
            let reply = try await bus.call("Size", of: Self.odd, with: [.uint32(2)])
            #expect(reply.values == [.string("xx")])
        }
        try await PrivateBus.with(["odd"]) { desktop in
            let address = try #require(DBusAddress(desktop.address))
            try await DBusConnection.with(address, limit: .seconds(200)) { bus in
                let call = Task { try await bus.call("Keep", of: Self.odd) }
                _ = try await desktop.call("Keep")
                call.cancel()
                await #expect(throws: CancellationError.self) { try await call.value }
                #expect(try await bus.call("Size", of: Self.odd, with: [.uint32(1)]).values == [.string("x")])
            }
        }
    }

    @Test("Signals that the bus refuses leave nobody who waits for them", .enabled(if: PrivateBus.missing.isEmpty))
    func refusedSignals() async throws {
        try await withOdd { bus in
            let refused = await failure { try await bus.signals(of: "org.example.Odd'", from: "org.example.Odd") }
            #expect(refused?.isAny(of: "MatchRuleInvalid") == true, "\(String(describing: refused))")
            #expect(await bus.listeners.isEmpty)
            _ = try await bus.signals(of: "org.example.Odd", from: "org.example.Odd")
            #expect(await bus.listeners.count == 1)
        }
    }

    @Test(
        "A bus that hangs up in the middle, or sends too much, ends the calls and the signals",
        .enabled(if: PrivateBus.missing.isEmpty)
    )
    func hangUp() async throws {
        for (method, arguments) in [("HangUp", []), ("Size", [DBusValue.uint32(2 << 20)])] {
            try await withOdd { bus in
                let signals = try await bus.signals(of: "org.example.Odd", from: "org.example.Odd")
                async let waiting = failure { try await bus.call("Keep", of: Self.odd) }
                let left = await failure { try await bus.call(method, of: Self.odd, with: arguments) }
                let late = await failure { try await bus.call("Refuse", of: Self.odd) }
                for error in [left, await waiting, late] { #expect(error?.isAny(of: "Disconnected") == true) }
                #expect(await signals.first { _ in true } == nil)
            }
        }
    }

    @Test("No bus, one that refuses, one that never answers, one that never accepts, and something else are errors")
    func noBus() async throws {
        try await Sandbox.with { user in
            func error(_ name: String) async -> DBusError? {
                guard let address = DBusAddress("unix:path=\(user.directory)/\(name)") else { return nil }
                return await failure { try await DBusConnection.with(address, limit: .milliseconds(300)) { _ in } }
            }
            #expect(await error("none")?.isAny(of: "FileNotFound") == true)
            SilentBus(path: user.directory + "/dead")?.close()
            #expect(await error("dead")?.description.contains("Connection refused") == true)
            let mute = try #require(SilentBus(path: user.directory + "/mute"))
            #expect(await error("mute")?.isAny(of: "NoReply") == true)
            let full = try #require(SilentBus(path: user.directory + "/full", backlog: 0))
            let first = try #require(full.connect())
            #expect(await error("full")?.isAny(of: "NoReply") == true)
            let web = try #require(SilentBus(path: user.directory + "/web"))
            async let answered: Void = web.answer("HTTP/1.1 400 Bad Request\r\n\r\n")
            #expect(await error("web")?.isAny(of: "Disconnected", "NoReply") == true)
            await answered
            Glibc.close(first)
            for bus in [mute, full, web] { bus.close() }
        }
    }

    private func withOdd(
        limit: Duration = .seconds(60),
        _ body: @escaping @Sendable (DBusConnection) async throws -> Void
    ) async throws {
        try await PrivateBus.with(["odd"]) { desktop in
            let address = try #require(DBusAddress(desktop.address))
            try await DBusConnection.with(address, limit: limit, body)
        }
    }
}

private func failure<R>(isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> R) async -> DBusError?
{
    do {
        _ = try await body()
    } catch let error as DBusError {
        return error
    } catch {
        Issue.record(error)
    }
    return nil
}

/// A Unix socket whose backlog takes connections that nobody reads from.
private struct SilentBus: Sendable {
    private let path: String
    private let socket: Int32

    init?(path: String, backlog: Int32 = 8) {
        self.path = path
        socket = Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard Self.with(path, { bind(socket, $0, $1) }) == 0, listen(socket, backlog) == 0 else { return nil }
    }

    /// Takes a place in the backlog.
    func connect() -> Int32? {
        let client = Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        return Self.with(path) { Glibc.connect(client, $0, $1) } == 0 ? client : nil
    }

    /// Accepts one connection, says something, and hangs up.
    func answer(_ text: String) async {
        await withCheckedContinuation { done in
            DispatchQueue.global().async {
                let client = accept(socket, nil, nil)
                _ = text.withCString { write(client, $0, strlen($0)) }
                Glibc.close(client)
                done.resume()
            }
        }
    }

    func close() {
        Glibc.close(socket)
    }

    private static func with(_ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        guard path.utf8.count < MemoryLayout.size(ofValue: address.sun_path) else { return -1 }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
    }
}
