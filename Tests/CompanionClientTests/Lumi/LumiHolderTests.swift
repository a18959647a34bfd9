import CompanionClient
import Foundation
import Glibc
import Testing

@Suite("A connection that is kept", .timeLimit(.minutes(5))) struct LumiHolderTests {
    /// Asks the holder behind a socket in the name of a user.
    ///
    /// - Returns: How many bytes it answers with.
    private func ask(_ type: String, at path: String, as user: UInt32) throws -> Int {
        let script = """
            import socket, sys
            holder = socket.socket(socket.AF_UNIX)
            holder.settimeout(10)
            holder.connect(sys.argv[1])
            command = sys.argv[2].encode()
            try:
                holder.sendall(len(command).to_bytes(4, "big") + command)
                print(len(holder.recv(4096)))
            except OSError:
                print(0)
            """
        let command = #"{"id":"7B0E4A52-93C1-4F0B-8D6E-21A5C3F79D10","commandType":"\#(type)","parameters":{}}"#
        let line = "setpriv --reuid \(user) --clear-groups /usr/bin/python3 -c '\(script)' '\(path)' '\(command)'"
        let output = try #require(popen(line, "r"))
        defer { pclose(output) }
        var text = [CChar](repeating: 0, count: 64)
        _ = fgets(&text, 64, output)
        let digits = text.prefix { (48...57).contains($0) }.map { UInt8($0) }
        return try #require(Int(String(decoding: digits, as: UTF8.self)))
    }

    /// Runs a holder behind a socket that everybody may reach, between this process as the Mac and its clients.
    private func withHolder(
        idle: Duration,
        answerLimit: Duration = .seconds(40),
        _ body: (_ path: String) throws -> Void
    ) throws {
        let directory = "/tmp/pairtool-holder-\(UUID().uuidString)"
        let path = directory + "/socket"
        #expect(mkdir(directory, 0o755) == 0 && chmod(directory, 0o755) == 0)
        defer {
            unlink(path)
            rmdir(directory)
        }
        var mac: [Int32] = [0, 0]
        #expect(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &mac) == 0)
        defer { close(mac[1]) }
        let listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        let bound = Self.withAddress(path) { bind(listener, $0, $1) }
        // Whoever made it so by mistake would have let everybody in.
        #expect(bound == 0 && chmod(path, 0o777) == 0 && listen(listener, 4) == 0)
        let end = mac[0]
        let thread = Thread {
            var holder = LumiHolder(
                mac: end,
                listener: listener,
                path: path,
                generation: .approval,
                idle: idle,
                answerLimit: answerLimit
            )
            holder.run()
        }
        thread.start()
        try body(path)
    }

    @Test(
        "The holder answers its own user, and nobody else who can reach its socket",
        .enabled(if: geteuid() == 0, "needs root, to ask as another user")
    )
    func users() throws {
        try withHolder(idle: .seconds(30)) { (path: String) throws in
            #expect(try ask("pairtool.state", at: path, as: 65534) == 0)
            #expect(try ask("pairtool.state", at: path, as: geteuid()) > 0)
            #expect(try ask("pairtool.end", at: path, as: 65534) == 0)
            #expect(try ask("pairtool.state", at: path, as: geteuid()) > 0, "it has not ended")
            #expect(try ask("pairtool.end", at: path, as: geteuid()) == 0)
        }
    }

    @Test("A client that stays and says nothing does not keep the connection open")
    func silentClient() throws {
        try withHolder(idle: .seconds(1), answerLimit: .seconds(2)) { path in
            let client = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
            defer { close(client) }
            var limit = timeval(tv_sec: 20, tv_usec: 0)
            setsockopt(client, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
            #expect(Self.withAddress(path) { connect(client, $0, $1) } == 0)
            var byte: UInt8 = 0
            #expect(recv(client, &byte, 1, 0) == 0, "the holder has closed it")
        }
    }

    private static func withAddress(_ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        return withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
    }
}
