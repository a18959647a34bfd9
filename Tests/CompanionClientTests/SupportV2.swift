import CompanionClient
import CompanionTestSupport
import CompanionWire
import FoundationEssentials
import NIOConcurrencyHelpers
import Testing

extension TLSTestHost {
    var endpoint: CompanionEndpoint {
        get throws { try #require(CompanionEndpoint(endpointText)) }
    }

    /// Runs `body` with a client that has paired with this host.
    func withClient<R>(
        _ credentials: StubCredentials,
        _ configuration: CompanionClientConfiguration = .quick,
        _ body: (CompanionAPIClient) async throws -> R
    ) async throws -> R {
        try await CompanionAPIClient.withClient(
            endpoint: endpoint,
            security: .pinned(PinnedCertificate(der: certificate.der)),
            credentials: credentials,
            configuration: configuration,
            body
        )
    }
}

extension CompanionClientConfiguration {
    /// Three quick repetitions.
    static let quick = CompanionClientConfiguration(
        timeouts: .patient,
        retries: Retries(count: 3, firstWait: .milliseconds(1), longestWait: .milliseconds(2))
    )
}

/// Credentials whose signatures are none: they say what was to be signed.
struct StubCredentials: DeviceCredentials {
    let token: NIOLockedValueBox<String?>
    let kept = NIOLockedValueBox<[String]>([])

    init(token: String? = nil) {
        self.token = NIOLockedValueBox(token)
    }

    func sessionToken() -> String? { token.withLockedValue { $0 } }

    func keep(_ grant: SessionGrant) {
        token.withLockedValue { $0 = grant.token }
        kept.withLockedValue { $0.append(grant.token) }
    }

    func sessionRequest(now: Date) -> [UInt8] {
        Array(#"{"issuedAt":"\#(CompanionTimestamp.string(from: now))"}"#.utf8)
    }

    func signedCommand(_ payload: CommandPayload, id: UUID, now: Date) throws -> [UInt8] {
        JSONValue.object([
            "commandId": .string(id.uuidString), "issuedAt": .string(CompanionTimestamp.string(from: now)),
            "nonce": .string(UUID().uuidString), "payload": payload.json,
        ]).json
    }
}

extension FakeMac.Request {
    /// A member of the body, which is a JSON object.
    func member(_ name: String) throws -> JSONValue? {
        try CanonicalJSON(parsing: body)[name]
    }
}

/// The answer of a host to a session request.
func granted(_ token: String) -> FakeMacAction {
    .json(200, #"{"ok":true,"token":"\#(token)","expiresAt":"2099-01-01T00:00:00.000Z"}"#)
}

/// A refusal as hosts of v2 write it.
func refused(_ status: Int, _ code: CompanionErrorCode, _ more: String = "") -> FakeMacAction {
    .json(status, #"{"ok":false,"error":"no","code":"\#(code)","retryable":false\#(more)}"#)
}
