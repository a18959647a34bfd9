import Discovery
import FoundationEssentials
import Glibc
import Logging
import Testing

@Suite("A system bus that accepts connections and never answers", .timeLimit(.minutes(15)))
struct SilentBusTests {
    /// In a process of its own, because the bus's address is in the environment.
    @Test("The choice auto gives it up after two seconds in favour of the embedded engine")
    func auto() async {
        await #expect(processExitsWith: .success) {
            let folder = FileManager.default.temporaryDirectory.appending(path: "bus-\(UUID().uuidString)")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(at: folder) }
            let path = folder.appending(path: "socket").path
            let socket = try #require(listener(path))
            defer { close(socket) }
            // Without a limit it would wait for ever: then the process is ended, and the test fails.
            alarm(200)
            setenv("DBUS_SYSTEM_BUS_ADDRESS", "unix:path=\(path)", 1)
            let client = CompanionDiscoveryClient(
                engine: .auto,
                interface: "lo",
                logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })
            )
            let start = ContinuousClock.now
            #expect(try await client.resolvedEngine() == .embedded)
            let time = start.duration(to: .now)
            // Less would mean that the bus was not tried.
            #expect(time > .seconds(1.9))
        }
    }
}

/// A Unix socket whose backlog takes connections that nobody reads from.
private func listener(_ path: String) -> Int32? {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let bytes = Array(path.utf8)
    guard bytes.count < MemoryLayout.size(ofValue: address.sun_path) else { return nil }
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
    let socket = Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    let status = withUnsafeBytes(of: &address) {
        bind(socket, $0.assumingMemoryBound(to: sockaddr.self).baseAddress, socklen_t($0.count))
    }
    guard status == 0, listen(socket, 8) == 0 else { return nil }
    return socket
}
