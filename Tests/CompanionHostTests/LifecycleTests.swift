import AsyncHTTPClient
import CompanionHost
import CompanionTestSupport
import CompanionWire
import FoundationEssentials
import NIOCore
import NIOHTTP1
import Testing

@Suite("Start and end of a host", .timeLimit(.minutes(15)))
struct LifecycleTests {
    @Test("Shutdown ends running and waiting answers with an error frame, and stores what there is")
    func shutdown() async throws {
        try await withTemporaryDirectory { directory in
            let script = "trap '' TERM; echo $$ >child; echo partly; while :; do sleep 60; done"
            let answers = Answers()
            try await withThrowingTaskGroup(of: Void.self) { group in
                try await withHost(in: directory) {
                    $0.agent = .command(["sh", "-c", script])
                } _: { host in
                    try await host.pair()
                    for _ in 0..<2 {
                        group.addTask { await answers.add(try await host.ask("go", model: "command")) }
                    }
                    _ = try await host.event { if case .turnStarted = $0 { true } else { nil } }
                    try await eventually { FileManager.default.fileExists(atPath: host.project + "/child") }
                    let port = host.port
                    try await blocking {
                        let body = #"{"prompt":"go","model":"command"}"#
                        let connection = try RawConnection(port: port)
                        try connection.send(
                            "POST /companion/chats/third/continue HTTP/1.1\r\nHost: localhost\r\n"
                                + "Content-Type: application/json\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
                        )
                        #expect(connection.read(until: "partly").contains("partly"))
                    }
                }
                try await group.waitForAll()
            }
            let replies = await answers.replies
            #expect(replies.count == 2)
            for reply in replies {
                #expect(reply.frames.last == .failed(TurnFailure("The host is shutting down")))
                #expect(!reply.body.contains("[DONE]"))
            }
            let child = try String(contentsOfFile: directory + "/project/child", encoding: .utf8)
            #expect(!isAlive(try #require(Int32(child.trimmingCharacters()))))
            try await withHost(in: directory) { host in
                let page = try await host.get("/companion/chats/third/messages")
                #expect(
                    try page.decoded(CompanionMessagesPageResponse.self).messages.elements.map(\.text) == [
                        "go", "partly\n",
                    ]
                )
            }
        }
    }

    @Test("A number that is no port is an error", arguments: [-1, 65536])
    func noPort(port: Int) async throws {
        let error = await #expect(throws: CompanionHostError.self) {
            try await withHost {
                $0.port = port
            } _: { _ in
            }
        }
        #expect(error?.code == .cannotListen)
    }

    @Test("A port that is taken is an error that says so, and which option names another", arguments: [false, true])
    func portTaken(isTLS: Bool) async throws {
        try await withHost { host in
            let error = await #expect(throws: CompanionHostError.self) {
                try await withHost {
                    // The port above the taken one may be taken as well.
                    $0.port = isTLS ? 0 : host.port
                    $0.tlsPort = isTLS ? host.port : 0
                } _: { _ in
                }
            }
            #expect(error?.code == .portInUse && error?.message.hasPrefix("Port \(host.port) is taken.") == true)
            #expect(error?.remedy?.hasSuffix("pairtool host --port 0 --tls-port 0") == true)
        }
    }

    @Test(
        "With --lan all interfaces answer, without it only loopback",
        .enabled(if: isPrivateNetwork, "needs a private network: scripts/in-private-network"),
        arguments: [true, false]
    )
    func interfaces(lan: Bool) async throws {
        try await withHost {
            $0.lan = lan
        } _: { host in
            #expect(try await host.get("/health").status == 200)
            let listening = try contents(of: "/proc/net/tcp") + contents(of: "/proc/net/tcp6")
            let sockets = listening.split(separator: "\n").compactMap { line -> Substring? in
                let fields = line.split(separator: " ")
                return fields.count > 3 && fields[3] == "0A" && fields[1].hasSuffix(":" + hexPort(host.port))
                    ? fields[1] : nil
            }
            #expect(!sockets.isEmpty)
            for socket in sockets {
                let isAny = socket.split(separator: ":")[0].allSatisfy { $0 == "0" }
                #expect(isAny == lan, "\(socket)")
            }
        }
    }

    @Test("IPv6 loopback answers on the same port, and counts as the same machine", .enabled(if: hasIPv6Loopback()))
    func ipv6Loopback() async throws {
        try await withHost { host in
            try await host.pair()
            // It listens a moment after IPv4.
            try await eventually {
                ((try? contents(of: "/proc/net/tcp6")) ?? "")
                    .contains("00000000000000000000000001000000:" + hexPort(host.port))
            }
            let url = "http://[::1]:\(host.port)/companion/projects"
            let response = try await HTTPClient.shared.execute(HTTPClientRequest(url: url), timeout: .seconds(60))
            #expect(response.status == .ok)
            _ = try await response.body.collect(upTo: 1 << 20)
        }
    }

    @Test(
        "A project that is no directory stops the host before it starts",
        arguments: ["relative", "/no/such/place", "/etc/passwd"]
    )
    func badProject(path: String) async throws {
        try await withTemporaryDirectory { directory in
            let configuration = CompanionHostConfiguration(
                name: "",
                port: 0,
                projects: [path],
                databasePath: directory + "/host.sqlite",
                version: ""
            )
            let error = #expect(throws: CompanionHostError.self) {
                try CompanionBridgeServer(configuration: configuration, logger: .silent)
            }
            #expect(error?.code == .invalidProject)
        }
    }

    @Test("A database that is none is an error with the way out, not a crash, and stays as it is")
    func badDatabase() async throws {
        try await withTemporaryDirectory { directory in
            let path = directory + "/host.sqlite"
            let garbage = String(repeating: "not a database ", count: 100)
            try write(garbage, to: path)
            let configuration = CompanionHostConfiguration(
                name: "",
                port: 0,
                projects: [],
                databasePath: path,
                version: ""
            )
            let error = #expect(throws: CompanionHostError.self) {
                try CompanionBridgeServer(configuration: configuration, logger: .silent)
            }
            #expect(error?.code == .databaseDamaged && error?.message.contains(path) == true)
            #expect(error?.remedy?.hasSuffix("mv '\(path)' '\(path).damaged'") == true)
            #expect(try String(contentsOfFile: path, encoding: .utf8) == garbage)
        }
    }
}

private actor Answers {
    var replies: [Reply] = []
    func add(_ reply: Reply) { replies.append(reply) }
}

/// A port as the kernel's tables write it.
private func hexPort(_ port: Int) -> String {
    let digits = String(port, radix: 16, uppercase: true)
    return String(repeating: "0", count: 4 - digits.utf8.count) + digits
}

private func hasIPv6Loopback() -> Bool {
    ((try? contents(of: "/proc/net/if_inet6")) ?? "").contains("00000000000000000000000000000001")
}
