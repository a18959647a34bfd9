import CompanionWire
import FoundationEssentials
import Identity
import PairingAgent
import Testing

/// A host that gives prepared answers and keeps the requests.
private actor PreparedHost: PairingTransport {
    var health: Result<PairingHostHealth, PairingTransportError> = .success(
        PairingHostHealth(isCompanion: true, service: "copilotforge-sidecar", clockOffset: .zero)
    )
    var complete: Result<CompanionStatusResponse, PairingTransportError> = .success(
        CompanionStatusResponse(connectedDevice: nil)
    )
    var status: Result<CompanionStatusResponse, PairingTransportError> = .success(
        CompanionStatusResponse(connectedDevice: nil)
    )
    private(set) var requests: [PairingCompleteRequest] = []

    func prepare(_ change: @Sendable (isolated PreparedHost) -> Void) { change(self) }

    func pairingHealth() async throws(PairingTransportError) -> PairingHostHealth { try health.get() }
    func pairingStatus() async throws(PairingTransportError) -> CompanionStatusResponse { try status.get() }
    func pairingComplete(_ request: PairingCompleteRequest) async throws(PairingTransportError)
        -> CompanionStatusResponse
    {
        requests.append(request)
        return try complete.get()
    }
}

@Suite struct PairingStateMachineTests {
    private let now = Date(timeIntervalSince1970: 1_795_253_400)
    private let host = PreparedHost()
    private let identity: DeviceIdentity

    init() throws {
        let key = Base64.encode([UInt8](repeating: 7, count: 32))
        identity = try #require(DeviceIdentity(publicKeyText: key))
    }

    private var connected: CompanionStatusResponse { connected(id: identity.deviceID) }

    private func connected(id: String) -> CompanionStatusResponse {
        CompanionStatusResponse(
            connectedDevice: ConnectedCompanionDevice(id: id, name: "desk", connectedAt: now, lastSeenAt: now)
        )
    }

    private func pair(expiresIn seconds: Double? = 60) async throws(PairingError) -> PairingAgent.Outcome {
        let payload = PairingPayload(
            code: "012345",
            token: "tok",
            expiresAt: seconds.map { now.addingTimeInterval($0) }
        )
        return try await PairingAgent(identity: identity, now: { [now] in now }).pair(
            payload,
            deviceName: "desk",
            over: host
        )
    }

    private func failure(expiresIn seconds: Double? = 60) async -> PairingError.Code? {
        do {
            _ = try await pair(expiresIn: seconds)
            return nil
        } catch {
            return error.code
        }
    }

    @Test("Code, token, name and key are sent once, and the device that comes back is ours")
    func success() async throws {
        let answer = connected
        await host.prepare { $0.complete = .success(answer) }
        #expect(try await pair().device.id == identity.deviceID)
        #expect(
            await host.requests == [
                PairingCompleteRequest(
                    pairingCode: "012345",
                    pairingToken: "tok",
                    deviceName: "desk",
                    devicePublicKey: identity.publicKeyText
                )
            ]
        )
    }

    @Test(
        "Each refusal of a host has its own error",
        arguments: [
            (CompanionErrorResponse.Text.invalidCode, PairingError.Code.wrongCode),
            (CompanionErrorResponse.Text.invalidToken, .wrongToken),
            (CompanionErrorResponse.Text.pairingExpired, .expired),
            (CompanionErrorResponse.Text.noActivePairing, .noChallenge),
            (CompanionErrorResponse.Text.missingPublicKey, .rejected), ("disk is full", .rejected),
        ]
    )
    func refusals(text: String, code: PairingError.Code) async {
        await host.prepare { $0.complete = .failure(PairingTransportError(.refused(text: text), "400")) }
        #expect(await failure() == code)
    }

    @Test("A service that is no companion never gets the code")
    func wrongService() async {
        await host.prepare {
            $0.health = .success(PairingHostHealth(isCompanion: false, service: "printer", clockOffset: nil))
        }
        #expect(await failure() == .wrongService)
        #expect(await host.requests.isEmpty)
    }

    @Test("A host that does not answer is unreachable, and nothing is sent")
    func unreachable() async {
        await host.prepare { $0.health = .failure(PairingTransportError(.unreachable, "refused")) }
        #expect(await failure() == .unreachable)
        #expect(await host.requests.isEmpty)
    }

    @Test("A code that has expired by the host's clock is not sent", arguments: [-1.0, 0.0])
    func expired(seconds: Double) async {
        #expect(await failure(expiresIn: seconds) == .expired)
        #expect(await host.requests.isEmpty)
    }

    @Test("Expiry goes by the host's clock: a skewed workstation is told so, or pairs all the same")
    func clockSkew() async throws {
        await host.prepare {
            $0.health = .success(PairingHostHealth(isCompanion: true, service: nil, clockOffset: .seconds(600)))
        }
        #expect(await failure(expiresIn: 300) == .clockSkew)
        let answer = connected
        await host.prepare {
            $0.health = .success(PairingHostHealth(isCompanion: true, service: nil, clockOffset: .seconds(-600)))
            $0.complete = .success(answer)
        }
        #expect(try await pair(expiresIn: -300).clockOffset == .seconds(-600))
    }

    @Test("A host that says connected:false, or names another device, has not paired with us")
    func wrongDevice() async {
        #expect(await failure() == .notConnected)
        let answer = connected(id: "ffffffffffffffff")
        await host.prepare { $0.complete = .success(answer) }
        #expect(await failure() == .foreignDevice)
    }

    @Test(
        "After a fault in the middle the status decides",
        arguments: [PairingTransportError.Reason.refused(text: "storage failed"), .unreachable, .failed]
    )
    func fault(reason: PairingTransportError.Reason) async throws {
        let answer = connected
        await host.prepare {
            $0.complete = .failure(PairingTransportError(reason, "fault"))
            $0.status = .success(answer)
        }
        #expect(try await pair().device.id == identity.deviceID)
        let other = connected(id: "ffffffffffffffff")
        await host.prepare { $0.status = .success(other) }
        #expect(await failure() != nil)
    }
}
