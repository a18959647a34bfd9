package import CompanionWire
package import FoundationEssentials

/// A request over the admin socket: one line of JSON, answered by one line.
package struct AdminRequest: Codable, Sendable, Hashable {
    /// The version of the admin protocol; both sides have to have the same one.
    package static let version = 1

    package enum Command: String, Codable, Sendable, Hashable, CaseIterable {
        case pair, devices, revoke, permissions, unlock, status, audit, questions, answer, rules
        case addRule = "rule.add"
        case removeRule = "rule.remove"
        case sessions, removeSession, changes

        /// Whether it decides what the agent, or a device, may do, or takes something away: no agent of the host may ask
        /// for that.
        var isForOwnerAlone: Bool {
            switch self {
            case .pair, .revoke, .permissions, .unlock, .answer, .addRule, .removeRule, .removeSession: true
            case .devices, .status, .audit, .questions, .rules, .sessions, .changes: false
            }
        }
    }

    package var v = AdminRequest.version
    /// A ``Command``; a string, so that an unknown one can be answered.
    package var command: String
    /// `pair`: how long the challenge lives, clamped to 60…900. Default: 300.
    package var ttlSeconds: Double?
    /// `pair`: what the device may get, nil for what the host was started with. `permissions`: what the device may do
    /// from now on, nil to leave it.
    package var permissions: [CompanionPermission]?
    /// `pair`: how long the device may stay, in seconds from its pairing on; nil without end.
    package var lifetimeSeconds: Double?
    /// `revoke`, `permissions`: the id of the device.
    package var device: String?
    /// `audit`: whether to check it as well.
    package var verify: Bool?
    /// `questions`, `answer`: the id of one question; nil lists them.
    package var question: String?
    /// `questions`: whether those that were answered are listed as well.
    package var all: Bool?
    /// `answer`: whether the agent may do it.
    package var approve: Bool?
    /// `answer`: whether that goes for all later questions like it.
    package var always: Bool?
    /// `answer`, with `approve`: the id or the name of the answer; nil for the usual one.
    package var option: String?
    /// `rule.add`, without an id. `rule.remove`: its id counts.
    package var rule: AgentRule?
    /// `rule.add`: the id, path or name of a project; nil for all.
    package var project: String?

    /// `sessions`: the chat of the only one that is wanted, which is looked at; nil lists all. `removeSession`,
    /// `changes`: the chat.
    package var chat: String?
    /// `removeSession`: whether also with work that is lost by that.
    package var force: Bool?
    /// `changes`: whether the list of files is enough.
    package var stat: Bool?
    /// `changes`: the only file or directory that is wanted.
    package var file: String?

    package init(_ command: Command) {
        self.command = command.rawValue
    }
}

/// The answer to an ``AdminRequest``.
package struct AdminResponse: Codable, Sendable, Hashable {
    package struct Failure: Codable, Sendable, Hashable {
        /// A stable dotted word, such as `pairing.locked`.
        package var code: CompanionErrorCode
        /// What happened, for people.
        package var message: String
    }

    package var v = AdminRequest.version
    package var ok: Bool
    package var error: Failure?
    /// `pair`. Holds secrets.
    package var challenge: PairingStartResponse?
    /// `pair`: true where the challenge's six digits are not taken, after too many wrong ones; its token is.
    package var digitsLocked: Bool?
    /// `devices`; `revoke`, `permissions`: the one device.
    package var devices: [AdminDevice]?
    package var status: AdminStatus?
    /// `audit`: the newest rows, the oldest of them first.
    package var audit: [AuditRow]?
    package var verdict: AuditVerdict?
    /// `questions`: open ones, the oldest first, then others, the newest first, without their arguments; or the one that
    /// was named, with them.
    /// `answer`: the one that was answered.
    package var questions: [Approval]?
    /// `rules`: all, the oldest first. `rule.add`, `rule.remove`: the one.
    package var rules: [AgentRule]?
    /// `rules`: what does not fit the audit, in sentences.
    package var ruleFaults: [String]?
    /// `sessions`: the newest first, or the one that was named; `removeSession`: the one that was removed.
    package var sessions: [AgentPlace]?
    package var changes: ChatChangesResponse?

    package init() {
        ok = true
    }

    package init(error code: CompanionErrorCode, _ message: String) {
        ok = false
        error = Failure(code: code, message: message)
    }
}

/// A paired device, as its host's owner sees it.
package struct AdminDevice: Codable, Sendable, Hashable, Identifiable {
    package var id: String
    package var name: String
    /// What it may do besides reading.
    package var permissions: [CompanionPermission]
    /// When its time is over; nil without end.
    package var expiresAt: Date?
    /// 1 or 2: the protocol that it paired with.
    package var protocolVersion: Int
    package var pairedAt: Date
    package var lastSeenAt: Date
    /// true for a device that is shut out and would be let in by a restart of the host, because that is not stored yet.
    package var isRevoked: Bool?
}

/// A host's identity and state.
package struct AdminStatus: Codable, Sendable, Hashable {
    package var id: String
    package var name: String
    /// Of plain HTTP; nil until the host listens.
    package var port: Int?
    package var tlsPort: Int?
    package var legacy: Bool
    package var lan: Bool
    /// How many devices are paired.
    package var devices: Int
    /// What answers; the first is the default.
    package var models: [CompanionModel]?
    /// Why the agent did not do its work last; nil where it did.
    package var trouble: AgentTrouble?
    package var pairingLocked: Bool
    package var failuresInARow: Int
    /// When the running challenge ends; nil when none runs.
    package var challengeExpiresAt: Date?
    /// When the next one starts, where the host delays it after wrong codes.
    package var nextChallengeAt: Date?
    package var triesLeft: Int
}
