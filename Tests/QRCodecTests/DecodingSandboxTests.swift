import Glibc
import Testing

@testable import QRCodec

private let isEnforced = (try? DecodingSandbox.enforcement().isEmpty) == false

/// What decodes pictures may neither open files nor make sockets, while the rest of the program may.
@Suite("The sandbox of the decoders", .enabled(if: isEnforced, "the kernel has no such thing"))
struct DecodingSandboxTests {
    /// - Returns: 0, or the system's number of the error.
    private static func open(_ path: String, _ flags: Int32) -> Int32 {
        let descriptor = Glibc.open(path, flags, 0o600)
        guard descriptor >= 0 else { return errno }
        close(descriptor)
        return 0
    }

    private static func socket(_ family: Int32) -> Int32 {
        let descriptor = Glibc.socket(family, Int32(SOCK_STREAM.rawValue), 0)
        guard descriptor >= 0 else { return errno }
        close(descriptor)
        return 0
    }

    private static func start() -> Int32 {
        var pid = pid_t()
        var none: UnsafeMutablePointer<CChar>?
        let status = posix_spawn(&pid, "/bin/true", nil, nil, &none, &none)
        if status == 0 { waitpid(pid, nil, 0) }
        return status
    }

    @Test("Inside, no file is opened, made or removed, no socket is made and no program started; outside they are")
    func refused() throws {
        let path = "/tmp/pairtool-sandbox-\(getpid())"
        let attempts: [(String, @Sendable () -> Int32)] = [
            ("read a file", { Self.open("/etc/passwd", O_RDONLY) }),
            ("read a directory", { Self.open("/etc", O_RDONLY | O_DIRECTORY) }),
            ("make a file", { Self.open(path, O_CREAT | O_WRONLY) }),
            ("change its times", { utimes(path, nil) == 0 ? 0 : errno }),
            ("change its mode", { chmod(path, 0o640) == 0 ? 0 : errno }),
            ("remove it", { unlink(path) == 0 ? 0 : errno }),
            ("IPv4", { Self.socket(AF_INET) }), ("IPv6", { Self.socket(AF_INET6) }), ("unix", { Self.socket(AF_UNIX) }),
            ("start a program", Self.start),
        ]
        let inside = try DecodingSandbox.run { attempts.map { $0.1() } }
        for ((what, attempt), refusal) in zip(attempts, inside) {
            #expect(refusal == EACCES || refusal == EPERM, "\(what): \(String(cString: strerror(refusal)))")
            // IPv6 may be switched off.
            let outside = attempt()
            #expect(outside == 0 || what == "IPv6", "\(what): \(String(cString: strerror(outside)))")
        }
    }

    @Test("A thread that is started inside has no more rights")
    func inherited() throws {
        let opened = try DecodingSandbox.run {
            var (thread, result) = (pthread_t(), UnsafeMutableRawPointer?.none)
            let status = pthread_create(
                &thread,
                nil,
                { _ in
                    UnsafeMutableRawPointer(bitPattern: Int(Glibc.open("/etc/passwd", O_RDONLY) + 2))
                },
                nil
            )
            guard status == 0 else { return -1 }
            pthread_join(thread, &result)
            return Int(bitPattern: result) - 2
        }
        #expect(opened == -1)
    }

    @Test("What is open stays open, and what a body gives or throws comes out")
    func passesOn() throws {
        let descriptor = Glibc.open("/etc/passwd", O_RDONLY)
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: 16)
        let count = try DecodingSandbox.run { read(descriptor, &bytes, bytes.count) }
        #expect(count == 16)
        #expect(throws: QRCodecError.self) {
            try DecodingSandbox.run {
                Result { () throws(QRCodecError) -> Int in throw QRCodecError(.empty, message: "none") }
            }
            .get()
        }
    }

    @Test("A scanner looks at a picture there, and not elsewhere")
    func scanner() throws {
        let picture = try QRSymbol(bytes: Array("inside".utf8)).png()
        var refusals: [Int32] = []
        let found = try QRScanner.scan(picture) { _ in
            refusals.append(Self.open("/etc/passwd", O_RDONLY))
            return true
        }
        #expect(found.map(\.text) == ["inside"])
        #expect(!refusals.isEmpty && refusals.allSatisfy { $0 == EACCES || $0 == EPERM }, "\(refusals)")
    }

    @Test("Every format is decoded there, by whichever thread comes first", arguments: FormatTests.formats)
    func formats(format: FormatTests.Format) throws {
        let file = try FormatTests.file(format)
        #expect(try QRScanner.scan(file).map(\.text) == ["formats"])
    }

    @Test("PNG and JPEG, too")
    func common() throws {
        let symbol = try QRSymbol(bytes: Array("common".utf8))
        #expect(try QRScanner.scan(symbol.png()).map(\.text) == ["common"])
        #expect(try QRScanner.scan(Samples.bytes("photographed.jpg")).map(\.text) == [Samples.good])
    }
}
