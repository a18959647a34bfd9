import Dispatch
import FoundationEssentials
import Glibc
import Subprocess
import SystemPackage
import Testing

@testable import Discovery

/// What `pairtool` asks the Avahi daemon before it becomes another program.
@Suite(.timeLimit(.minutes(2))) struct DaemonQueryTests {
    private static let usual = [
        "_copilotforge-companion._tcp", "_cf-companion._tcp", "_lumiagent._tcp", "_aiclicode._tcp",
    ]

    @Test(
        "What discover is going to ask is asked at once, and the next program gets the connection",
        arguments: [
            (["discover"], [:], usual),
            (["discover", "--json"], ["PAIRTOOL_ENGINE": "auto", "PAIRTOOL_INTERFACE": ""], usual),
            (["discover", "-q", "--engine", "daemon"], ["PAIRTOOL_ENGINE": "embedded"], usual),
            (
                ["discover", "--type", "_lumiagent._tcp", "--quiet", "--type", "_x-1._udp"], ["PAIRTOOL_ENGINE": ""],
                ["_lumiagent._tcp", "_x-1._udp"]
            ),
        ] as [([String], [String: String], [String])]
    )
    func asked(words: [String], variables: [String: String], types: [String]) async throws {
        let (output, received) = try await Self.run(words, variables)
        #expect(output == "open\n")
        let browsers = types.enumerated().flatMap { index, type in
            BusCall.avahi(
                "ServiceBrowserNew",
                [.integer(-1), .integer(-1), .text(type), .text(""), .number(0)]
            ).bytes(serial: UInt32(index) + 2)
        }
        let hello = BusSocket.introduction + BusSocket.beginning + BusCall.hello.bytes(serial: 1)
        #expect(received == hello + browsers)
    }

    @Test(
        "Nobody is asked for anything else, nor for what may be a mistake",
        arguments: [
            (["discover", "--first"], [:]), (["discover", "--engine", "embedded"], [:]),
            (["discover", "--engine"], [:]), (["discover", "--engine", ""], [:]),
            (["discover", "--engine", "auto", "--engine", "auto"], [:]),
            (["discover", "--interface", "lo"], [:]), (["discover", "--json", "-q"], [:]),
            (["discover", "--type"], [:]), (["discover", "--type", "nonsense"], [:]),
            (["discover", "--type", "_-a._tcp"], [:]),
            (["discover", "--type", "_a b._tcp"], [:]),
            (["discover", "--type", "_\(String(repeating: "a", count: 80))._tcp"], [:]),
            (["discover", "--watch"], [:]), (["discover", "studio"], [:]), (["--version"], [:]), (["hosts"], [:]),
            ([], [:]),
            (["discover"], ["PAIRTOOL_ENGINE": "embedded"]), (["discover"], ["PAIRTOOL_INTERFACE": "lo"]),
            (["discover"], ["DBUS_SYSTEM_BUS_ADDRESS": "unix:abstract=/nowhere"]),
            (["discover"], ["DBUS_SYSTEM_BUS_ADDRESS": "unix:path=/nowhere"]),
        ] as [([String], [String: String])]
    )
    func notAsked(words: [String], variables: [String: String]) async throws {
        let (output, received) = try await Self.run(words, variables)
        #expect(output == "none\n" && received == nil)
    }

    @Test("Where a descriptor is closed that would be taken for it, nothing is asked", arguments: ["<&-", ">&-"])
    func closedDescriptor(redirection: String) async throws {
        try await Sandbox.with { user in
            let bus = try SilentBus(user.directory + "/bus")
            let copy = user.directory + "/pairtool"
            try FileManager.default.copyItem(atPath: BuiltTool.path, toPath: copy)
            // Without the other programs it ends at once, and says so.
            let result = try await Subprocess.run(
                .path("/bin/sh"),
                arguments: ["-c", "exec \"$0\" discover \(redirection)", copy],
                environment: user.processEnvironment(["DBUS_SYSTEM_BUS_ADDRESS": bus.address]),
                output: .string(limit: 1 << 10),
                error: .string(limit: 1 << 10)
            )
            #expect(result.terminationStatus == .exited(1) && result.standardError.contains("cannot be run"))
            #expect(bus.connectionAtOnce() == nil)
        }
    }

    @Test("The question is withdrawn soon, while its own are still waited for")
    func withdrawn() async throws {
        try await Sandbox.with { user in
            let bus = try SilentBus(user.directory + "/bus")
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    _ = try await Subprocess.run(
                        .path(FilePath(BuiltTool.path)),
                        arguments: ["discover", "--engine", "daemon"],
                        environment: user.processEnvironment(["DBUS_SYSTEM_BUS_ADDRESS": bus.address]),
                        output: .discarded,
                        error: .discarded
                    )
                }
                let question = await bus.connection()
                #expect(await question.receiveToEnd().firstRange(of: "ServiceBrowserNew".utf8) != nil)
                // That of libavahi-client is there still: the program waits for an answer.
                #expect(await bus.connection().isOpen)
                group.cancelAll()
            }
        }
    }

    @Test(
        "What is no connection is left alone",
        arguments: ["", "-1", "0", "1", "2", "99", "2147483648", "three"]
    )
    func nonsense(number: String) async throws {
        try await Sandbox.with { user in
            let result = try await Subprocess.run(
                .path(FilePath(BuiltTool.quickPath)),
                arguments: ["scan", Self.sample, "-q"],
                environment: user.processEnvironment(["PAIRTOOL_DAEMON_QUERY": number]),
                output: .string(limit: 1 << 10),
                error: .string(limit: 1 << 10)
            )
            #expect(result.terminationStatus == .exited(0) && result.standardOutput.hasSuffix("\tpairing\n"))
        }
    }

    private static let sample =
        "/" + #filePath.split(separator: "/").dropLast(3).joined(separator: "/") + "/samples/good.png"

    @Test("A program that is to have the last word gets neither the connection nor its number")
    func handedOver() async throws {
        try await Sandbox.with { user in
            let copy = user.directory + "/pairtool"
            try FileManager.default.copyItem(atPath: BuiltTool.quickPath, toPath: copy + "-quick")
            let script = "#!/bin/sh\necho \"none$PAIRTOOL_DAEMON_QUERY\"\n[ ! -S /proc/self/fd/9 ] || echo open\n"
            try Data(script.utf8).write(to: URL(filePath: copy + "-full"))
            try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: copy + "-full")
            let result = try await Subprocess.run(
                .path("/usr/bin/env"),
                arguments: [
                    "python3", "-c",
                    """
                    import os, socket, sys
                    query = socket.socket(socket.AF_UNIX)
                    os.dup2(query.fileno(), 9)
                    os.environ["PAIRTOOL_DAEMON_QUERY"] = "9"
                    os.execv(sys.argv[1], ["pairtool", "hosts"])
                    """,
                    copy + "-quick",
                ],
                environment: user.processEnvironment([:]),
                output: .string(limit: 1 << 10),
                error: .string(limit: 1 << 10)
            )
            #expect(result.standardOutput == "none\n", "\(result.standardError)")
        }
    }

    @Test(
        "The daemon understands it, and answers",
        .enabled(
            if: DaemonNamespace.missing.isEmpty,
            "skipped, missing: \(DaemonNamespace.missing.joined(separator: ", "))"
        )
    )
    func understood() async throws {
        let run = try await DaemonNamespace.run(
            """
            publish Studio _lumiagent._tcp 7001
            cp "$PAIRTOOL" /run/pairtool
            cat >/run/pairtool-quick <<'END'
            #!/usr/bin/env python3
            import os, socket
            bus = socket.socket(fileno=int(os.environ["PAIRTOOL_DAEMON_QUERY"]))
            bus.settimeout(20)
            heard = b""
            while heard.count(b"AllForNow") < 4:
                more = bus.recv(65536)
                heard += more or exit("the bus has hung up")
            print("found" if b"Studio" in heard else "not found")
            END
            chmod 755 /run/pairtool-quick
            /run/pairtool discover
            """
        )
        #expect(run.status == 0 && run.output == "found\n", "\(run.errors)")
    }

    /// - Returns: What a program that `pairtool` becomes says of the connection, and what came to the bus.
    private static func run(
        _ words: [String],
        _ variables: [String: String]
    ) async throws -> (output: String, received: [UInt8]?) {
        try await Sandbox.with { user in
            let copy = user.directory + "/pairtool"
            try FileManager.default.copyItem(atPath: BuiltTool.path, toPath: copy)
            for name in ["quick", "full"] {
                let script = """
                    #!/bin/sh
                    if [ -z "$PAIRTOOL_DAEMON_QUERY" ]; then echo none
                    elif [ -S "/proc/self/fd/$PAIRTOOL_DAEMON_QUERY" ]; then echo open
                    fi
                    """
                try Data(script.utf8).write(to: URL(filePath: "\(copy)-\(name)"))
                try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: "\(copy)-\(name)")
            }
            let bus = try SilentBus(user.directory + "/bus")
            let result = try await Subprocess.run(
                .path(FilePath(copy)),
                arguments: Arguments(words),
                environment: user.processEnvironment(
                    ["DBUS_SYSTEM_BUS_ADDRESS": bus.address].merging(variables) { $1 }
                ),
                output: .string(limit: 1 << 10),
                error: .string(limit: 1 << 10)
            )
            return (result.standardOutput, await bus.connectionAtOnce()?.receiveToEnd())
        }
    }
}

/// A message bus that takes connections and never says a word.
private final class SilentBus: Sendable {
    /// As in `DBUS_SYSTEM_BUS_ADDRESS`.
    let address: String
    private let listener: Int32

    init(_ path: String) throws {
        address = "unix:path=" + path
        listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        var name = sockaddr_un()
        name.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &name.sun_path) { $0.copyBytes(from: path.utf8) }
        let status = withUnsafeBytes(of: &name) {
            bind(listener, $0.assumingMemoryBound(to: sockaddr.self).baseAddress, socklen_t($0.count))
        }
        try #require(status == 0 && listen(listener, 8) == 0)
    }

    deinit { close(listener) }

    /// The next connection, once somebody has made it.
    func connection() async -> Connection {
        Connection(await blocking { [listener] in accept(listener, nil, nil) })
    }

    /// The next connection, if somebody has made it.
    func connectionAtOnce() -> Connection? {
        var entry = pollfd(fd: listener, events: Int16(POLLIN), revents: 0)
        return poll(&entry, 1, 0) == 1 ? Connection(accept(listener, nil, nil)) : nil
    }

    final class Connection: Sendable {
        private let descriptor: Int32

        fileprivate init(_ descriptor: Int32) { self.descriptor = descriptor }

        deinit { close(descriptor) }

        /// What comes until the other side closes it.
        func receiveToEnd() async -> [UInt8] {
            await blocking { [descriptor] in
                var bytes: [UInt8] = []
                var buffer = [UInt8](repeating: 0, count: 4096)
                while case let count = recv(descriptor, &buffer, buffer.count, 0), count > 0 {
                    bytes += buffer[..<count]
                }
                return bytes
            }
        }

        /// Whether the other side has not closed it.
        var isOpen: Bool {
            var buffer = [UInt8](repeating: 0, count: 4096)
            while case let count = recv(descriptor, &buffer, buffer.count, Int32(MSG_DONTWAIT)) {
                if count <= 0 { return count < 0 && errno == EAGAIN }
            }
        }
    }
}

/// Waits on a thread that is none of concurrency's.
private func blocking<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
    await withCheckedContinuation { continuation in
        DispatchQueue.global().async { continuation.resume(returning: body()) }
    }
}
