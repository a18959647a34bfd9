import CompanionWire
import FoundationEssentials
import Glibc
import LocalState

extension HostAdministration {
    /// Rows of the audit that are sent at a time.
    static let auditRows = 1000

    /// Carries out a request over the admin socket, unless it is for the owner alone and an agent of this host may have
    /// sent it.
    ///
    /// - Parameter peer: The process that asks.
    func answer(_ request: AdminRequest, by peer: AdminPeer) async -> AdminResponse {
        guard let command = AdminRequest.Command(rawValue: request.command), command.isForOwnerAlone,
            (try? await BlockingCall.run { peer.mayBeOfAgent }) ?? true
        else { return await answer(request) }
        await services.refusals.record(command.rawValue, process: peer.process, address: nil)
        return AdminResponse(error: .requestForbidden, AgentRefusals.refusal.text)
    }

    /// Carries out a request over the admin socket.
    func answer(_ request: AdminRequest) async -> AdminResponse {
        guard let command = AdminRequest.Command(rawValue: request.command) else {
            return AdminResponse(error: .requestInvalid, "The host has no command “\(request.command)”.")
        }
        do {
            switch command {
            case .pair: return try await pair(request)
            case .devices: return adminDevices { _ in true }
            case .revoke: return try await revoke(request.device)
            case .permissions: return try await permissions(request)
            case .unlock:
                try await unlockPairing()
                return await adminStatus()
            case .status: return await adminStatus()
            case .audit: return try await readAudit(verify: request.verify ?? false)
            case .questions: return try await readQuestions(request)
            case .answer: return try await answerQuestion(request)
            case .rules: return try await readRules()
            case .addRule: return try await addRule(request)
            case .removeRule: return try await removeRule(request)
            case .sessions: return try await readSessions(request)
            case .removeSession: return try await removeSession(request)
            case .changes: return try await readChanges(request)
            case .testNotifications:
                var response = AdminResponse()
                response.notifications = try await services.notifier.test()
                return response
            }
        } catch {
            let refusal = HostError(describing: error) ?? .internal
            return AdminResponse(error: refusal.code, refusal.text)
        }
    }

    private func pair(_ request: AdminRequest) async throws -> AdminResponse {
        var grant: PairingGrant?
        if request.permissions != nil || request.lifetimeSeconds != nil {
            if let seconds = request.lifetimeSeconds, !(seconds > 0 && seconds <= 1e9) {
                return AdminResponse(error: .requestInvalid, "A device's access can last 1 to 1,000,000,000 seconds.")
            }
            grant = PairingGrant(
                permissions: request.permissions ?? services.pairing.usualGrant.permissions,
                lifetime: request.lifetimeSeconds.map { .milliseconds(Int64($0 * 1000)) }
                    ?? services.pairing.usualGrant.lifetime
            )
        }
        var response = AdminResponse()
        response.challenge = await startPairing(ttlSeconds: request.ttlSeconds, grant: grant)
        if await pairingState.isLocked { response.digitsLocked = true }
        return response
    }

    private func revoke(_ id: String?) async throws -> AdminResponse {
        let before = adminDevices { $0.id == id }
        guard let id, try await revoke(id) else { return Self.unknownDevice }
        return before
    }

    private func permissions(_ request: AdminRequest) async throws -> AdminResponse {
        guard let id = request.device else { return Self.unknownDevice }
        if let permissions = request.permissions {
            guard Set(permissions).isSubset(of: CompanionPermission.all) else {
                return AdminResponse(error: .requestInvalid, "There is no such permission.")
            }
            guard try await setPermissions(permissions, of: id) else { return Self.unknownDevice }
        }
        if let rungs = request.rungs {
            guard try await setRungs(rungs, of: id) else { return Self.unknownDevice }
        }
        let response = adminDevices { $0.id == id }
        return response.devices?.isEmpty == false ? response : Self.unknownDevice
    }

    private func readAudit(verify: Bool) async throws -> AdminResponse {
        var response = AdminResponse()
        response.audit = try await audit.rows(limit: Self.auditRows)
        if verify { response.verdict = try await audit.verify() }
        return response
    }

    private func readQuestions(_ request: AdminRequest) async throws -> AdminResponse {
        var response = AdminResponse()
        if let id = request.question {
            guard let question = try await services.questions.question(id: id) else {
                return AdminResponse(error: .approvalUnknown, "The host has no such question.")
            }
            response.questions = [question]
        } else {
            response.questions = try await services.questions.list(all: request.all ?? false)
        }
        return response
    }

    private func answerQuestion(_ request: AdminRequest) async throws -> AdminResponse {
        guard let id = request.question, let approve = request.approve else {
            return AdminResponse(error: .requestInvalid, "A question and an answer are needed.")
        }
        let always = request.always ?? false
        let answer: ApprovalAnswer
        if let content = request.content {
            guard approve, !always, request.option == nil, request.dismiss != true else {
                return AdminResponse(error: .requestInvalid, "Values need an approval, and nothing else.")
            }
            answer = .filled(content)
        } else if request.dismiss == true {
            guard !approve, !always else {
                return AdminResponse(error: .requestInvalid, "What is dismissed is neither approved nor for always.")
            }
            answer = .dismissed
        } else if let option = request.option {
            guard approve, !always else {
                return AdminResponse(error: .requestInvalid, "A chosen answer needs an approval, without always.")
            }
            answer = .named(option)
        } else {
            answer = approve ? .allow(always: always) : .reject(always: always, reason: nil)
        }
        var response = AdminResponse()
        response.questions = [try await services.questions.decide(id, with: answer, by: .owner)]
        return response
    }

    private func readRules() async throws -> AdminResponse {
        let book = try await services.rules.book()
        var response = Self.answer(book.rules)
        if !book.faults.isEmpty { response.ruleFaults = book.faults.map(\.text) }
        return response
    }

    private func addRule(_ request: AdminRequest) async throws -> AdminResponse {
        guard let rule = request.rule else { return AdminResponse(error: .requestInvalid, "A rule is needed.") }
        return Self.answer([try await services.rules.add(rule, project: request.project)])
    }

    private func removeRule(_ request: AdminRequest) async throws -> AdminResponse {
        guard let id = request.rule?.id, let rule = try await services.rules.remove(id) else {
            return AdminResponse(error: .ruleUnknown, "The host has no such rule.")
        }
        return Self.answer([rule])
    }

    private static func answer(_ rules: [AgentRule]) -> AdminResponse {
        var response = AdminResponse()
        response.rules = rules
        return response
    }

    private func readSessions(_ request: AdminRequest) async throws -> AdminResponse {
        var response = AdminResponse()
        if let chat = request.chat {
            response.sessions = [try await services.worktrees.worktree(ofChat: chat, isOwner: true)]
        } else {
            response.sessions = try await services.worktrees.all(isOwner: true)
        }
        return response
    }

    private func removeSession(_ request: AdminRequest) async throws -> AdminResponse {
        var response = AdminResponse()
        response.sessions = [
            try await services.worktrees.remove(chat: request.chat ?? "", isForced: request.force ?? false, by: nil)
        ]
        return response
    }

    private func readChanges(_ request: AdminRequest) async throws -> AdminResponse {
        var response = AdminResponse()
        response.changes = try await services.worktrees.changes(
            chatID: request.chat ?? "",
            wantsDifference: !(request.stat ?? false),
            file: request.file
        )
        return response
    }

    private func adminDevices(_ isMeant: (AdminDevice) -> Bool) -> AdminResponse {
        var response = AdminResponse()
        let revoked = devicesRevokedInMemory().map { device in
            var device = AdminDevice(device)
            device.isRevoked = true
            return device
        }
        response.devices = devices().map(AdminDevice.init) + revoked
        response.devices?.removeAll { !isMeant($0) }
        return response
    }

    private func adminStatus() async -> AdminResponse {
        var response = AdminResponse()
        response.status = await status()
        return response
    }

    private static let unknownDevice = AdminResponse(error: .deviceUnknown, "The host has no such device.")
}

extension AdminDevice {
    init(_ device: PairedDevice) {
        self.init(
            id: device.id,
            name: device.name,
            permissions: device.granted,
            expiresAt: device.expiresAt,
            protocolVersion: device.protocolVersion,
            pairedAt: device.pairedAt,
            lastSeenAt: device.lastSeenAt,
            via: device.via,
            rungs: device.rungs
        )
    }
}
