import AsyncHTTPClient
import CompanionHost
import CompanionWire
import FoundationEssentials
import Identity
import Logging
import NIOCore
import NIOHTTP1
import NIOSSL

/// A device of v2 with a key of its own, which speaks to a host over HTTPS with the host's certificate pinned.
struct TestDevice: Sendable {
    let keys: SecureKeyStore
    let identity: DeviceIdentity
    let host: TestHost
    let http: HTTPClient
    var name = "Test device"
    var token: String?
    /// The address that it speaks from; nil for whichever the system takes.
    var address: String?
    /// The public key that it pairs with, where it is not its own.
    var foreignKey: String?

    var id: String { identity.deviceID }

    /// Another device at the same host.
    func another(in directory: String) throws -> TestDevice {
        try TestDevice(host: host, http: http, directory: directory)
    }

    init(host: TestHost, http: HTTPClient, directory: String) throws {
        self.host = host
        self.http = http
        keys = SecureKeyStore(directory: directory)
        identity = try keys.identity()
    }

    // MARK: Requests

    func get(_ path: String) async throws -> Reply { try await send("GET", path) }

    func post(_ path: String, _ body: some Encodable) async throws -> Reply {
        try await send("POST", path, body: Array(try CompanionJSON.encoder().encode(body)))
    }

    /// - Parameter version: The header of the protocol's version; nil leaves it out.
    func send(
        _ method: String,
        _ path: String,
        body: [UInt8]? = nil,
        type: String = "application/json",
        version: String? = "2",
        headers: [(String, String)] = []
    ) async throws -> Reply {
        var request = HTTPClientRequest(url: "https://127.0.0.1:\(host.tlsPort)\(path)")
        request.method = HTTPMethod(rawValue: method)
        request.localAddress = address
        if let version { request.headers.add(name: ProtocolVersion.header, value: version) }
        if let token { request.headers.add(name: "Authorization", value: "Bearer \(token)") }
        for (name, value) in headers { request.headers.add(name: name, value: value) }
        if let body {
            request.headers.add(name: "Content-Type", value: type)
            request.body = .bytes(ByteBuffer(bytes: body))
        }
        let response = try await http.execute(request, timeout: .seconds(600))
        let content = try await response.body.collect(upTo: 64 << 20)
        return Reply(
            status: Int(response.status.code),
            headers: response.headers.map { ($0.name.lowercased(), $0.value) },
            body: String(buffer: content)
        )
    }

    // MARK: Pairing

    /// The steps of a pairing up to the device's tag.
    struct Exchange: Sendable {
        var hello: PairingHelloResponse
        var tags: PairingTags

        var confirm: PairingConfirmRequest {
            PairingConfirmRequest(pairingId: hello.pairingId, tag: Base64.encode(tags.own))
        }
    }

    /// Says hello and exchanges shares.
    func exchange(
        _ secret: PairingSecret,
        permissions: [CompanionPermission] = CompanionPermission.all,
        spki: [UInt8]? = nil
    ) async throws -> Exchange {
        let nonce = SecureRandom.bytes(16)
        let hello = try await accepted(
            try await post("/companion/pairing/hello", PairingHelloRequest(clientNonce: Base64URL.encode(nonce))),
            as: PairingHelloResponse.self
        )
        let context = PairingContext(
            clientNonce: nonce,
            hostNonce: Base64URL.decode(hello.hostNonce) ?? [],
            spki: try spki ?? host.spki(),
            hostID: DeviceIdentity.deviceID(publicKeyText: hello.hostPublicKey),
            hostPublicKey: hello.hostPublicKey,
            hostName: hello.hostName,
            devicePublicKey: foreignKey ?? identity.publicKeyText,
            deviceName: name,
            permissions: permissions
        )
        let initiator = try PairingInitiator(secret: secret, context: context)
        let request = PairingShareRequest(
            pairingId: hello.pairingId,
            method: initiator.method,
            share: Base64.encode(initiator.share),
            deviceName: name,
            devicePublicKey: foreignKey ?? identity.publicKeyText,
            permissions: permissions
        )
        let share = try await accepted(
            try await post("/companion/pairing/share", request),
            as: PairingShareResponse.self
        )
        return Exchange(hello: hello, tags: try initiator.receive(hostShare: Base64.decode(share.share) ?? []))
    }

    func confirm(_ exchange: Exchange) async throws -> Reply {
        try await post("/companion/pairing/confirm", exchange.confirm)
    }

    /// Pairs, checks the host's proof, and keeps the session.
    @discardableResult
    mutating func pair(
        _ secret: PairingSecret,
        permissions: [CompanionPermission] = CompanionPermission.all
    ) async throws -> PairingConfirmResponse {
        let exchange = try await exchange(secret, permissions: permissions)
        let answer = try await accepted(try await confirm(exchange), as: PairingConfirmResponse.self)
        guard exchange.tags.verifies(Base64.decode(answer.tag) ?? []) else {
            throw TestFailure("the host did not prove itself")
        }
        token = answer.session.token
        return answer
    }

    /// Pairs with a challenge of its own.
    @discardableResult
    mutating func pair(
        permissions: [CompanionPermission] = CompanionPermission.all,
        grant: PairingGrant? = nil
    ) async throws -> PairingConfirmResponse {
        let start = await host.server.administration.startPairing(ttlSeconds: nil, grant: grant)
        return try await pair(.code(start.code), permissions: permissions)
    }

    /// One guess that is wrong.
    func guessWrong(_ secret: PairingSecret = .code("no code")) async throws -> Reply {
        do {
            return try await confirm(try await exchange(secret))
        } catch let refusal as Refusal {
            return refusal.reply
        }
    }

    // MARK: Sessions

    func openSession(now: Date = Date()) async throws -> Reply {
        try await send(
            "POST",
            "/companion/session",
            body: try SessionRequest.make(audience: host.server.identity.id, key: keys, now: now).body
        )
    }
}

/// An answer that was not 200.
struct Refusal: Error, CustomStringConvertible {
    var reply: Reply
    var description: String { "\(reply.status): \(reply.body)" }
}

private func accepted<Value: Decodable>(_ reply: Reply, as type: Value.Type) async throws -> Value {
    guard reply.status == 200 else { throw Refusal(reply: reply) }
    return try reply.decoded(type)
}

extension Reply {
    /// The code and more of a JSON error.
    var failure: CompanionErrorResponse? { try? decoded(CompanionErrorResponse.self) }
    var code: CompanionErrorCode? { failure?.code }
}

extension TestHost {
    func spki() throws -> [UInt8] {
        Digest.sha256(try certificate.extractPublicKey().toSPKIBytes())
    }

    /// Runs a body with a device that has not paired yet.
    func withDevice<Result>(_ body: (inout TestDevice) async throws -> Result) async throws -> Result {
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.trustRoots = .certificates([certificate])
        tls.certificateVerification = .noHostnameVerification
        tls.minimumTLSVersion = .tlsv13
        let http = HTTPClient(eventLoopGroupProvider: .singleton, configuration: .init(tlsConfiguration: tls))
        return try await withTemporaryDirectory { directory in
            let result: Swift.Result<Result, any Error>
            do {
                var device = try TestDevice(host: self, http: http, directory: directory)
                result = .success(try await body(&device))
            } catch {
                result = .failure(error)
            }
            try await http.shutdown()
            return try result.get()
        }
    }
}

/// Runs a host without v1 and a device that has not paired yet.
func withHostAndDevice<Result: Sendable>(
    in directory: String? = nil,
    clock: HostClock = .system,
    connectionClock: HostClock = .steady,
    logger: Logger = .silent,
    configure: (inout CompanionHostConfiguration) -> Void = { _ in },
    _ body: (TestHost, inout TestDevice) async throws -> Result
) async throws -> Result {
    try await withHost(
        in: directory,
        clock: clock,
        connectionClock: connectionClock,
        logger: logger,
        configure: { configuration in
            configuration.legacy = false
            configure(&configuration)
        },
        { host in try await host.withDevice { device in try await body(host, &device) } }
    )
}
