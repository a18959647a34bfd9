package import CompanionWire

/// The requests of agents: the owner answers them as a device with the permission `approve` does.
extension AdminClient: ApprovalDeciding {
    package var place: String { "localhost" }

    package func approvals(all: Bool) async throws -> ApprovalList {
        var request = AdminRequest(.questions)
        request.all = all
        return ApprovalList(approvals: try await send(request).questions ?? [], unreadable: 0)
    }

    package func approval(id: String) async throws -> ApprovalResponse? {
        var request = AdminRequest(.questions)
        request.question = id
        do {
            let approval = try Self.one(try await send(request).questions)
            return ApprovalResponse(approval: approval, mayDecide: true, mayAlways: true)
        } catch let error as AdminError where error.reason == .approvalUnknown {
            return nil
        }
    }

    package func decide(_ approval: Approval, with answer: ApprovalAnswer) async throws -> DecidedApproval {
        var request = AdminRequest(.answer)
        request.question = approval.id
        switch answer {
        case .allow(let always): (request.approve, request.always) = (true, always)
        case .reject(let always, _): (request.approve, request.always) = (false, always)
        case .option(let word), .named(let word): (request.approve, request.option) = (true, word)
        case .filled(let values): (request.approve, request.content) = (true, values)
        case .dismissed: (request.approve, request.dismiss) = (false, true)
        case .cancelled: request.approve = false
        }
        return DecidedApproval(try Self.one(try await send(request).questions))
    }
}

/// The places where agents work.
extension AdminClient: ChangeReporting {
    package func changes(chatID: String, wantsDifference: Bool, file: String?) async throws -> ChatChangesResponse {
        var request = AdminRequest(.changes)
        (request.chat, request.stat, request.file) = (chatID, !wantsDifference, file)
        guard let changes = try await send(request).changes else { throw AdminError.unreadable() }
        return changes
    }

    package func worktrees() async throws -> [Worktree] {
        try await send(AdminRequest(.sessions)).sessions ?? []
    }

    package func worktree(ofChat id: String) async throws -> Worktree {
        var request = AdminRequest(.sessions)
        request.chat = id
        return try Self.one(try await send(request).sessions)
    }

    package func removeWorktree(ofChat id: String, isForced: Bool) async throws -> Worktree {
        var request = AdminRequest(.removeSession)
        (request.chat, request.force) = (id, isForced)
        return try Self.one(try await send(request).sessions)
    }
}

/// The actions that are the owner's alone.
extension AdminClient {
    package func status() async throws -> AdminStatus {
        guard let status = try await send(AdminRequest(.status)).status else { throw AdminError.unreadable() }
        return status
    }

    /// Allows pairing by the six digits again, after too many wrong ones.
    ///
    /// - Returns: The host's state after that.
    package func unlockPairing() async throws -> AdminStatus {
        guard let status = try await send(AdminRequest(.unlock)).status else { throw AdminError.unreadable() }
        return status
    }

    /// Has the host send a test to each target of its notifications, now and once.
    ///
    /// - Returns: The outcomes; an empty list for a host that notifies nobody.
    package func testNotifications() async throws -> [AdminNotification] {
        try await send(AdminRequest(.testNotifications)).notifications ?? []
    }

    package func devices() async throws -> [AdminDevice] {
        try await send(AdminRequest(.devices)).devices ?? []
    }

    /// Ends a device's access at once.
    package func revokeDevice(id: String) async throws {
        var request = AdminRequest(.revoke)
        request.device = id
        _ = try await send(request)
    }

    /// Sets the actions that a device may take from now on, besides reading.
    package func setPermissions(_ permissions: [CompanionPermission], ofDevice id: String) async throws -> AdminDevice {
        var request = AdminRequest(.permissions)
        (request.device, request.permissions) = (id, permissions)
        return try Self.one(try await send(request).devices)
    }

    /// - Parameter rungs: The rungs by which the device may come; empty for all.
    package func setRungs(_ rungs: [HostRoute.Rung], ofDevice id: String) async throws -> AdminDevice {
        var request = AdminRequest(.permissions)
        (request.device, request.rungs) = (id, rungs)
        return try Self.one(try await send(request).devices)
    }

    /// All rules, the oldest first, and as sentences for people what is wrong with them.
    package func rules() async throws -> (rules: [AgentRule], faults: [String]) {
        let answer = try await send(AdminRequest(.rules))
        return (answer.rules ?? [], answer.ruleFaults ?? [])
    }

    /// - Parameter project: The id, path or name of the project that it is for; nil for all.
    package func addRule(_ rule: AgentRule, project: String?) async throws -> AgentRule {
        var request = AdminRequest(.addRule)
        (request.rule, request.project) = (rule, project)
        return try Self.one(try await send(request).rules)
    }

    package func removeRule(id: Int64) async throws -> AgentRule {
        var request = AdminRequest(.removeRule)
        request.rule = AgentRule(id: id, effect: .ask)
        return try Self.one(try await send(request).rules)
    }

    /// The newest rows of the audit, the oldest of them first.
    package func audit() async throws -> [AuditRow] {
        try await send(AdminRequest(.audit)).audit ?? []
    }

    /// Has the host check every row of its audit.
    package func verifyAudit() async throws -> AuditVerdict {
        var request = AdminRequest(.audit)
        request.verify = true
        guard let verdict = try await send(request).verdict else { throw AdminError.unreadable() }
        return verdict
    }

    /// Has the host show a new code, and returns it. Holds secrets.
    ///
    /// - Parameters:
    ///   - ttl: How long it can be used; clamped to 60…900 s.
    ///   - permissions: What the device may do besides reading; nil for the host's own choice.
    ///   - lifetime: How long the device has access, in seconds; nil for the host's own choice.
    /// - Returns: The code, and whether its six digits are not taken.
    package func startPairing(
        ttl: Int,
        permissions: [CompanionPermission]?,
        lifetime: Double?
    ) async throws -> (challenge: PairingStartResponse, areDigitsLocked: Bool) {
        var request = AdminRequest(.pair)
        (request.ttlSeconds, request.permissions, request.lifetimeSeconds) = (Double(ttl), permissions, lifetime)
        let answer = try await send(request)
        guard let challenge = answer.challenge else { throw AdminError.unreadable() }
        return (challenge, answer.digitsLocked ?? false)
    }

    private static func one<Value>(_ values: [Value]?) throws -> Value {
        guard let value = values?.first else { throw AdminError.unreadable() }
        return value
    }
}
