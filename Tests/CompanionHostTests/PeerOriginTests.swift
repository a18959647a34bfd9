import CompanionWire
import Glibc
import Subprocess
import Testing

@testable import CompanionHost

/// The processes at the other end of connections from this machine, over real sockets.
@Suite("Which process has the other end of a connection", .timeLimit(.minutes(15)))
struct PeerOriginTests {
    /// Connects to a port in one of several ways, says from which port, and ends with its input.
    private static let client = """
        import os, socket, subprocess, sys
        port, way, mark = int(sys.argv[1]), sys.argv[2], sys.argv[3]
        mapped = way == "mapped"
        s = socket.socket(socket.AF_INET6 if mapped else socket.AF_INET)
        s.connect(("::ffff:127.0.0.1" if mapped else "127.0.0.1", port))
        if way in ("shared", "passed"):
            subprocess.Popen(["sleep", "1000"], env={**os.environ, "PAIRTOOL_AGENT_RUN": mark}, pass_fds=[s.fileno()],
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        if way == "closed": s.close()
        print(s.getsockname()[1] if way != "closed" else 1, flush=True)
        if way != "passed": sys.stdin.read()
        """

    /// What is found out about a client, while it runs.
    ///
    /// - Parameter isAgent: Whether it is started as an agent is.
    private func origin(of way: String, isAgent: Bool = false) async throws -> PeerOrigin {
        let listener = try LoopbackListener()
        let run = AgentProcesses()
        let environment: Environment =
            isAgent ? .inherit.updating([.init(stringLiteral: AgentProcesses.variable): run.mark]) : .inherit
        let outcome = try await Subprocess.run(
            .name("python3"),
            arguments: ["-c", Self.client, "\(listener.port)", way, run.mark],
            environment: environment,
            input: .inputWriter,
            output: .sequence,
            error: .discarded
        ) { process in
            var ports: [String] = []
            for try await line in process.standardOutput.strings() {
                ports.append(line.trimmingWhitespace())
                break
            }
            let port = try #require(ports.first.flatMap { UInt16($0) })
            let origin = PeerOrigin(of: try Self.place(port), connectedTo: try Self.place(listener.port))
            try await process.standardInputWriter.finish()
            return origin
        }
        await run.ended(within: .zero, logger: .silent)
        return outcome.closureResult
    }

    private static func place(_ port: UInt16) throws -> TCPSocket.End {
        TCPSocket.End(address: try #require(IPAddress("127.0.0.1")), port: port)
    }

    @Test(
        "A process that no agent started is the owner's, whatever the family of its address",
        arguments: ["plain", "mapped"]
    )
    func owner(way: String) async throws {
        #expect(try await origin(of: way) == .owner)
    }

    @Test(
        "A process of an agent is found, also if others have the connection too, and if the one that made it has ended",
        arguments: [("plain", true), ("mapped", true), ("shared", false), ("passed", false)]
    )
    func agent(way: String, isAgent: Bool) async throws {
        let origin = try await origin(of: way, isAgent: isAgent)
        guard case .agent = origin else {
            Issue.record("\(origin)")
            return
        }
    }

    /// Connects to an address of one interface by another one, which is on the same network, and says both ends of the
    /// connection as the server has them, with the peer's zone.
    private static let across = """
        import socket, sys
        own = {fields[5]: socket.inet_ntop(socket.AF_INET6, bytes.fromhex(fields[0]))
            for fields in map(str.split, open("/proc/net/if_inet6")) if fields[3] == "20"}
        listener = socket.socket(socket.AF_INET6)
        listener.bind(("::", 0)); listener.listen()
        client = socket.socket(socket.AF_INET6)
        client.connect((own["test1"], listener.getsockname()[1], 0, socket.if_nametoindex("test0")))
        peer, here = (name() for c in [listener.accept()[0]] for name in (c.getpeername, c.getsockname))
        print(f"{peer[0]}%{peer[3]}", peer[1], f"{here[0]}%{here[3]}", here[1], flush=True)
        sys.stdin.read()
        """

    @Test(
        "A process is found that has connected by one interface to another one on the same network",
        .enabled(if: isPrivateNetwork, "needs a network of its own")
    )
    func twoInterfaces() async throws {
        let outcome = try await Subprocess.run(
            .name("python3"),
            arguments: ["-c", Self.across],
            input: .inputWriter,
            output: .sequence,
            error: .discarded
        ) { process in
            var words: [String] = []
            for try await line in process.standardOutput.strings() {
                words = line.trimmingWhitespace().split(separator: " ").map(String.init)
                break
            }
            func end(_ index: Int) throws -> TCPSocket.End {
                let address = try #require(words.indices.contains(index + 1) ? IPAddress(words[index]) : nil)
                return TCPSocket.End(address: address, port: try #require(UInt16(words[index + 1])))
            }
            let origin = PeerOrigin(of: try end(0), connectedTo: try end(2))
            try await process.standardInputWriter.finish()
            return origin
        }
        #expect(outcome.closureResult == .owner)
    }

    @Test("A connection that its client has closed cannot be attributed")
    func closed() async throws {
        #expect(try await origin(of: "closed") == .unknown)
    }

    @Test("A process whose limits cannot be read counts as an agent's if it is there and the same user's")
    func unreadableLimits() async throws {
        #expect(InheritedMark.isMarked(nil, below: 100) { true })
        #expect(!InheritedMark.isMarked(nil, below: 100) { false })
        #expect(InheritedMark.isMarked(99, below: 100) { false })
        #expect(
            !InheritedMark.isMarked(100, below: 100) { true } && !InheritedMark.isMarked(.max, below: .max) { true }
        )
        #expect(InheritedMark.isOwn(getpid()) && !InheritedMark.isOwn(0) && !InheritedMark.isOwn(pid_t.max))
        let ended = try await Subprocess.run(.name("true"), output: .discarded).processIdentifier.value
        #expect(!InheritedMark.isOwn(ended))
    }

    @Test("The limit that marks what a host starts is read as the kernel has it")
    func limit() async throws {
        var limit = rlimit()
        #expect(getrlimit(__rlimit_resource_t(__RLIMIT_LOCKS.rawValue), &limit) == 0)
        #expect(ProcessTable.hardLimit(ofLocks: getpid()) == UInt64(limit.rlim_max))
        #expect(ProcessTable.hardLimit(ofLocks: pid_t.max) == nil)
        let outcome = try await Subprocess.run(
            .name("prlimit"),
            arguments: ["--locks=5:7", "sh", "-c", "echo; read -r line"],
            input: .inputWriter,
            output: .sequence,
            error: .discarded
        ) { process in
            for try await _ in process.standardOutput.strings() { break }
            let found = ProcessTable.hardLimit(ofLocks: process.processIdentifier.value)
            try await process.standardInputWriter.finish()
            return found
        }
        #expect(outcome.closureResult == 7)
    }
}

/// Listens on a free port of the loopback interface, and answers nobody.
private struct LoopbackListener: ~Copyable {
    private let descriptor: Int32
    let port: UInt16

    init() throws {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = in_addr_t(0x7f00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isListening = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, size) == 0 && listen(descriptor, 4) == 0 && getsockname(descriptor, $0, &size) == 0
            }
        }
        guard isListening else {
            defer { close(descriptor) }
            throw TestFailure("listen: \(errno)")
        }
        self.descriptor = descriptor
        port = UInt16(bigEndian: address.sin_port)
    }

    deinit {
        close(descriptor)
    }
}
