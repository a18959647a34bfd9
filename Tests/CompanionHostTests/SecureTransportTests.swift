import AsyncHTTPClient
import CompanionHost
import CompanionWire
import FoundationEssentials
import Identity
import LocalState
import NIOCore
import NIOSSL
import Testing

@Suite("HTTPS and versions", .timeLimit(.minutes(15)))
struct SecureTransportTests {
    @Test(
        "Without legacy, plain HTTP answers health and status, and 426 to everything else",
        arguments: [
            ("GET", "/companion/projects"), ("GET", "/companion/devices"), ("GET", "/models"), ("GET", "/auth/status"),
            ("POST", "/companion/pairing/start"), ("POST", "/companion/pairing/complete"),
            ("POST", "/companion/chats/x/continue"), ("POST", "/companion/command"), ("POST", "/companion/session"),
            ("POST", "/companion/pairing/hello"), ("DELETE", "/companion/devices/x"), ("GET", "/nothing"),
            ("POST", "/health"),
        ]
    )
    func plain(method: String, path: String) async throws {
        try await withHost(configure: { $0.legacy = false }) { host in
            let reply = try await host.send(method, path, body: method == "POST" ? "{}" : nil)
            #expect(reply.status == 426)
            #expect(reply.code == .versionUnsupported)
            #expect(reply.failure?.minimumVersion == 2 && reply.failure?.maximumVersion == 2)
            // A client of v1 shows this text to its user, and knows no more.
            let text = "This host speaks version 2 over HTTPS. Update the companion, or start the host with --legacy"
            #expect(reply.error == text)
            let health = try await host.get("/health").decoded(CompanionHealthResponse.self)
            #expect(health.tlsPort == host.tlsPort && health.serverTime != nil)
            let status = try await host.get("/companion/status").decoded(CompanionStatusResponse.self)
            #expect(!status.connected)
        }
    }

    @Test("v2 is not spoken over plain HTTP, not even with legacy", arguments: [true, false])
    func plainV2(legacy: Bool) async throws {
        try await withHost(configure: { $0.legacy = legacy }) { host in
            let headers = ["Host: 127.0.0.1", "\(ProtocolVersion.header): 2"]
            for path in ["/companion/pairing/hello", "/companion/session", "/companion/command"] {
                let reply = try await host.raw("POST", path, headers: headers, body: "{}")
                #expect(reply.status == 426 && reply.code == .versionUnsupported)
            }
        }
    }

    @Test(
        "A version that the host does not speak is refused with those that it does",
        arguments: ["0", "3", "x", "02"]
    )
    func otherVersion(version: String) async throws {
        try await withHostAndDevice { _, device in
            let reply = try await device.send("GET", "/companion/projects", version: version)
            #expect(reply.status == 426)
            #expect(reply.failure?.maximumVersion == 2)
            #expect(try await device.send("GET", "/health", version: version).status == 200)
        }
    }

    @Test("Over HTTPS a request without a version is one of v1", arguments: [true, false])
    func versionlessOverHTTPS(legacy: Bool) async throws {
        try await withHostAndDevice(configure: { $0.legacy = legacy }) { _, device in
            let reply = try await device.send("GET", "/companion/projects", version: nil)
            #expect(reply.status == (legacy ? 403 : 426))
        }
    }

    @Test("TLS 1.2 is refused")
    func oldTLS() async throws {
        try await withHost { host in
            var tls = TLSConfiguration.makeClientConfiguration()
            tls.trustRoots = .certificates([host.certificate])
            tls.certificateVerification = .noHostnameVerification
            tls.maximumTLSVersion = .tlsv12
            let http = HTTPClient(eventLoopGroupProvider: .singleton, configuration: .init(tlsConfiguration: tls))
            let request = HTTPClientRequest(url: "https://127.0.0.1:\(host.tlsPort)/health")
            await #expect(throws: (any Error).self) { try await http.execute(request, timeout: .seconds(30)) }
            try await http.shutdown()
        }
    }

    @Test("The certificate stays the same over restarts, and its file is the owner's alone")
    func certificateStays() async throws {
        try await withTemporaryDirectory { directory in
            let first = try await withHost(in: directory) { try $0.spki() }
            let second = try await withHost(in: directory) { try $0.spki() }
            #expect(first == second)
            #expect(try mode(of: directory + "/state/tls.pem") == 0o600)
            #expect(try mode(of: directory + "/state/identity.key") == 0o600)
        }
    }

    @Test("A certificate file that others can read, or that is damaged, is refused with the way out")
    func badCertificates() async throws {
        try await withTemporaryDirectory { directory in
            let path = directory + "/tls.pem"
            let good = try HostCertificate(directory: directory)
            try makeExecutable(path)
            let open = #expect(throws: CompanionHostError.self) { try HostCertificate(directory: directory) }
            #expect(open?.code == .keyUnusable)
            #expect(open?.message.contains("chmod 600") == true)
            let text = try contents(of: path)
            let other = try HostCertificate(directory: directory + "/other")
            let key = text.components(separatedBy: "-----BEGIN CERTIFICATE")[0]
            let foreign = try contents(of: directory + "/other/tls.pem").components(separatedBy: "-----BEGIN CERT")[1]
            #expect(other.spki != good.spki)
            for damaged in ["", "x", key, String(text.dropLast(200)), key + "-----BEGIN CERT" + foreign] {
                try removeFile(path)
                try PrivateFile.write(damaged, to: path)
                let error = #expect(throws: CompanionHostError.self) { try HostCertificate(directory: directory) }
                #expect(error?.code == .keyUnusable)
                #expect(error?.message.contains("mv '\(path)'") == true)
            }
            try removeFile(path)
            try link(directory + "/other/tls.pem", at: path)
            #expect(throws: CompanionHostError.self) { try HostCertificate(directory: directory) }
        }
    }

    @Test("Requests of web pages are refused over HTTPS as well: origins, foreign hosts, forms")
    func browsers() async throws {
        try await withHostAndDevice { host, device in
            let code = try await host.challenge().code
            try await device.pair(.code(code))
            let foreign = [("Origin", "https://evil.example")]
            let origin = try await device.send("GET", "/companion/status", headers: foreign)
            let rebound = try await device.send("GET", "/companion/status", headers: [("Host", "evil.example")])
            #expect(origin.status == 403 && origin.code == .requestForbidden)
            #expect(rebound.status == 403 && rebound.code == .requestForbidden)
            let project = try #require(try await device.projects().first)
            let command = try await device.sign(.chatCreate(projectID: project.id, title: nil))
            for type in ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"] {
                let reply = try await device.send("POST", "/companion/command", body: command.body, type: type)
                #expect(reply.status == 400 && reply.code == .commandBadShape)
                let hello = try await device.send("POST", "/companion/pairing/hello", body: [0x7B, 0x7D], type: type)
                #expect(hello.code == .requestInvalid)
            }
        }
    }
}

extension PrivateFile {
    fileprivate static func write(_ text: String, to path: String) throws {
        try Array(text.utf8).withUnsafeBytes { try write($0, to: path) }
    }
}
