import CompanionClient
import CompanionWire
import FoundationEssentials
import Identity
import PairingAgent
import Testing

/// The state machine alone, with the answers that a host gives. ``LegacyPairingTests`` runs it against a host.
@Suite struct PairingStateMachineTests {
    private let now = Date(timeIntervalSince1970: 1_795_253_400)
    private let identity: DeviceIdentity

    init() throws {
        identity = try .sample()
    }

    /// What a host answers.
    private struct Answers {
        var service = "copilotforge-sidecar"
        var clockOffset: Duration? = .zero
        var completed: Result<CompanionStatusResponse, any Error> = .success(
            CompanionStatusResponse(connectedDevice: nil)
        )
        var status: Result<CompanionStatusResponse, any Error> = .success(
            CompanionStatusResponse(connectedDevice: nil)
        )

        var health: Result<CompanionHealthResponse, any Error> {
            .success(CompanionHealthResponse(service: service, version: nil, processStartedAtMs: nil))
        }
    }

    private func connected(id: String? = nil) -> CompanionStatusResponse {
        CompanionStatusResponse(
            connectedDevice: ConnectedCompanionDevice(
                id: id ?? identity.deviceID,
                name: "desk",
                connectedAt: now,
                lastSeenAt: now
            )
        )
    }

    private func machine(expiresIn seconds: Double = 60) -> PairingStateMachine {
        let payload = PairingPayload(code: "012345", token: "tok", expiresAt: now.addingTimeInterval(seconds))
        return PairingStateMachine(payload: payload, deviceName: "desk", identity: identity)
    }

    /// Runs a pairing to its end.
    ///
    /// - Returns: Why it failed, or nil; and whether the code was sent.
    private func run(
        _ machine: PairingStateMachine,
        _ answers: Answers
    ) -> (failure: PairingError.Code?, isSent: Bool) {
        var (machine, isSent) = (machine, false)
        var action = machine.start()
        while true {
            switch action {
            case .askHealth:
                action = machine.handle(.health(answers.health, clockOffset: answers.clockOffset), now: now)
            case .complete:
                isSent = true
                action = machine.handle(.completed(answers.completed), now: now)
            case .askStatus: action = machine.handle(.status(answers.status), now: now)
            case .succeed: return (nil, isSent)
            case .fail(let error): return (error.code, isSent)
            }
        }
    }

    @Test("A service that is no companion never gets the code")
    func wrongService() {
        let end = run(machine(), Answers(service: "printer"))
        #expect(end == (.wrongService, false))
    }

    @Test("A code that has expired by the host's clock is not sent", arguments: [-1.0, 0.0])
    func expired(seconds: Double) {
        let end = run(machine(expiresIn: seconds), Answers())
        #expect(end == (.expired, false))
    }

    @Test("Expiry goes by the host's clock: a skewed workstation is told so, or pairs all the same")
    func clockSkew() {
        let ahead = run(machine(expiresIn: 300), Answers(clockOffset: .seconds(600)))
        #expect(ahead == (.clockSkew, false))
        let behind = run(
            machine(expiresIn: -300),
            Answers(clockOffset: .seconds(-600), completed: .success(connected()))
        )
        #expect(behind == (nil, true))
    }

    @Test("A host that says connected:false, or names another device, has not paired with us")
    func wrongDevice() {
        #expect(run(machine(), Answers()).failure == .notConnected)
        let other = Answers(completed: .success(connected(id: "ffffffffffffffff")))
        #expect(run(machine(), other).failure == .foreignDevice)
    }

    @Test(
        "After a fault in the middle the status decides",
        arguments: [
            CompanionClientError(.badRequest, message: "fault", hostText: "storage failed"),
            CompanionClientError(.unreachable, message: "fault"), CompanionClientError(.server, message: "fault"),
        ]
    )
    func fault(error: CompanionClientError) {
        var answers = Answers(completed: .failure(error), status: .success(connected()))
        #expect(run(machine(), answers).failure == nil)
        answers.status = .success(connected(id: "ffffffffffffffff"))
        #expect(run(machine(), answers).failure == PairingError(error).code)
        answers.status = .failure(CompanionClientError(.unreachable, message: "gone"))
        #expect(run(machine(), answers).failure == PairingError(error).code)
    }

    @Test("A host of other versions, or one that refuses by a code, has certainly not paired")
    func certainRefusal() {
        var refusal = CompanionClientError(.badRequest, message: "refused", hostText: "text")
        refusal.hostCode = .pairingLocked
        for (error, code) in [
            (refusal, PairingError.Code.locked),
            (CompanionClientError(.unsupportedVersion, message: "426"), .otherVersion),
        ] {
            let answers = Answers(completed: .failure(error), status: .success(connected()))
            #expect(run(machine(), answers).failure == code)
        }
    }

    @Test("An answer that nobody asked for ends the pairing")
    func outOfStep() {
        var machine = machine()
        _ = machine.start()
        guard case .fail(let error) = machine.handle(.completed(.success(connected())), now: now) else {
            Issue.record("the answer was taken")
            return
        }
        #expect(error.code == .rejected)
    }
}

extension DeviceIdentity {
    /// An identity whose private key nobody has.
    static func sample() throws -> DeviceIdentity {
        try #require(DeviceIdentity(publicKeyText: Base64.encode([UInt8](repeating: 7, count: 32))))
    }
}
