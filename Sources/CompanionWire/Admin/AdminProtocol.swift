package import FoundationEssentials

/// A request over the admin socket: one line of JSON, answered by one line.
package struct AdminRequest: Codable, Sendable, Hashable {
    /// The version of the admin protocol; both sides have to have the same one.
    package static let version = 1

    /// The requests that this version of the host knows, by the words that go over the socket.
    package enum Command: String, Codable, Sendable, Hashable, CaseIterable {
        case pair, devices, revoke, permissions, unlock, status, audit, questions, answer, rules
        case addRule = "rule.add"
        case removeRule = "rule.remove"
        case sessions, removeSession, changes
        case testNotifications = "notify.test"

        /// Whether only the owner may ask for it: it decides what the agent or a device may do, or takes something
        /// away. The host refuses it to its own agents.
        package var isForOwnerAlone: Bool {
            switch self {
            case .pair, .revoke, .permissions, .unlock, .answer, .addRule, .removeRule, .removeSession,
                .testNotifications:
                true
            case .devices, .status, .audit, .questions, .rules, .sessions, .changes: false
            }
        }
    }

    /// The version of the admin protocol that the sender speaks.
    package var v = AdminRequest.version
    /// A ``Command``; a string, so that an unknown one can be answered.
    package var command: String
    /// `pair`: how long the challenge lives, clamped to 60…900. Default: 300.
    package var ttlSeconds: Double?
    /// `pair`: the permissions that the device may get; nil for those that the host was started with. `permissions`:
    /// the permissions that the device has from now on; nil to leave them as they are.
    package var permissions: [CompanionPermission]?
    /// `pair`: how long the device has access, in seconds from its pairing on; nil for the time that the host was
    /// started with.
    package var lifetimeSeconds: Double?
    /// `revoke`, `permissions`: the id of the device.
    package var device: String?
    /// `permissions`: the rungs by which the device may come from now on, empty for all; nil to leave them as they are.
    package var rungs: [HostRoute.Rung]?
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
    /// `answer`, with `approve`: the values of a form.
    package var content: [String: JSONValue]?
    /// `answer`, without `approve`: whether a form or a page is dismissed rather than declined.
    package var dismiss: Bool?
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

    /// A request without parameters; the caller sets those that the command takes.
    package init(_ command: Command) {
        self.command = command.rawValue
    }
}

/// The answer to an ``AdminRequest``.
package struct AdminResponse: Codable, Sendable, Hashable {
    /// The error of a request that the host did not carry out.
    package struct Failure: Codable, Sendable, Hashable {
        /// A stable dotted word, such as `pairing.locked`.
        package var code: CompanionErrorCode
        /// A message for people: why the host did not do it.
        package var message: String
    }

    /// The version of the admin protocol that the host speaks.
    package var v = AdminRequest.version
    /// Whether the host did what was asked; if not, ``error`` says why.
    package var ok: Bool
    /// nil if ``ok`` is true.
    package var error: Failure?
    /// `pair`. Holds secrets.
    package var challenge: PairingStartResponse?
    /// `pair`: true where the challenge's six digits are not taken, after too many wrong ones; its token is.
    package var digitsLocked: Bool?
    /// `devices`; `revoke`, `permissions`: the one device.
    package var devices: [AdminDevice]?
    /// `status`.
    package var status: AdminStatus?
    /// `audit`: the newest rows, the oldest of them first.
    package var audit: [AuditRow]?
    /// `audit` with `verify`: the result of the check.
    package var verdict: AuditVerdict?
    /// `questions`: open ones, the oldest first, then others, the newest first, without their arguments; or the one
    /// that was named, with them. `answer`: the one that was answered.
    package var questions: [Approval]?
    /// `rules`: all, the oldest first. `rule.add`, `rule.remove`: the one.
    package var rules: [AgentRule]?
    /// `rules`: the differences between the rules and the audit, as sentences for people.
    package var ruleFaults: [String]?
    /// `sessions`: the newest first, or the one that was named; `removeSession`: the one that was removed.
    package var sessions: [Worktree]?
    /// `changes`.
    package var changes: ChatChangesResponse?
    /// `notify.test`: each target, with the outcome.
    package var notifications: [AdminNotification]?

    /// An answer to a request that was done; the caller adds its result.
    package init() {
        ok = true
    }

    /// An answer to a request that was not done.
    ///
    /// - Parameter message: For people.
    package init(error code: CompanionErrorCode, _ message: String) {
        ok = false
        error = Failure(code: code, message: message)
    }
}

/// A paired device, as its host's owner sees it.
package struct AdminDevice: Codable, Sendable, Hashable, Identifiable {
    /// The id by which `revoke` and `permissions` name the device: the first 16 hex digits of SHA-256 over its public
    /// key's text.
    package var id: String
    package var name: String
    /// The actions that it may take besides reading.
    package var permissions: [CompanionPermission]
    /// When its access ends; nil if it has no time limit.
    package var expiresAt: Date?
    /// 1 or 2: the protocol that it paired with.
    package var protocolVersion: Int
    package var pairedAt: Date
    /// When it last made a request. The host updates this every five seconds at most.
    package var lastSeenAt: Date
    /// The rung by which it last came; nil before it has.
    package var via: HostRoute.Rung?
    /// The rungs by which it may come; nil for all.
    package var rungs: [HostRoute.Rung]?
    /// true for a device that is shut out although its revocation is not stored yet: a restart of the host would let it
    /// in again. Else nil.
    package var isRevoked: Bool?

    package init(
        id: String,
        name: String,
        permissions: [CompanionPermission],
        expiresAt: Date? = nil,
        protocolVersion: Int,
        pairedAt: Date,
        lastSeenAt: Date,
        via: HostRoute.Rung? = nil,
        rungs: [HostRoute.Rung]? = nil,
        isRevoked: Bool? = nil
    ) {
        (self.via, self.rungs) = (via, rungs)
        self.id = id
        self.name = name
        self.permissions = permissions
        self.expiresAt = expiresAt
        self.protocolVersion = protocolVersion
        self.pairedAt = pairedAt
        self.lastSeenAt = lastSeenAt
        self.isRevoked = isRevoked
    }
}

/// A host's identity and state.
package struct AdminStatus: Codable, Sendable, Hashable {
    /// The host's id: the first 16 hex digits of SHA-256 over its public key.
    package var id: String
    package var name: String
    /// The port of plain HTTP; nil until the host listens.
    package var port: Int?
    /// The port of HTTPS; nil until the host listens.
    package var tlsPort: Int?
    /// Whether the host serves devices of protocol v1.
    package var legacy: Bool
    /// Whether the host listens on all interfaces; if not, only on the loopback addresses.
    package var lan: Bool
    /// How many devices are paired.
    package var devices: Int
    /// The models of the agent that answers prompts; the first is the default.
    package var models: [CompanionModel]?
    /// All agents; the first is the default.
    package var agents: [AdminAgent]
    /// Whether pairing by the six digits is locked, after too many wrong codes.
    package var pairingLocked: Bool
    /// Wrong codes since the last successful pairing or the last unlock.
    package var failuresInARow: Int
    /// When the running challenge ends; nil when none runs.
    package var challengeExpiresAt: Date?
    /// When the next one starts, where the host delays it after wrong codes.
    package var nextChallengeAt: Date?
    /// Wrong codes or tokens that the running challenge still accepts; 0 if none runs.
    package var triesLeft: Int
    /// The receivers of a note that an agent waits.
    package var notifications: [AdminNotification]?
    /// The relays that the host joins; nil for a host that joins none.
    package var relays: [AdminRelay]?

    package init(
        id: String,
        name: String,
        port: Int? = nil,
        tlsPort: Int? = nil,
        legacy: Bool,
        lan: Bool,
        devices: Int,
        models: [CompanionModel]? = nil,
        agents: [AdminAgent],
        pairingLocked: Bool,
        failuresInARow: Int,
        challengeExpiresAt: Date? = nil,
        nextChallengeAt: Date? = nil,
        triesLeft: Int,
        notifications: [AdminNotification]? = nil,
        relays: [AdminRelay]? = nil
    ) {
        self.id = id
        self.name = name
        self.port = port
        self.tlsPort = tlsPort
        self.legacy = legacy
        self.lan = lan
        self.devices = devices
        self.models = models
        self.agents = agents
        self.pairingLocked = pairingLocked
        self.failuresInARow = failuresInARow
        self.challengeExpiresAt = challengeExpiresAt
        self.nextChallengeAt = nextChallengeAt
        self.triesLeft = triesLeft
        self.notifications = notifications
        self.relays = relays
    }
}

/// A relay that a host joins, and how far it has come.
package struct AdminRelay: Codable, Sendable, Hashable {
    package enum State: String, Codable, Sendable, Hashable {
        case connecting
        /// Devices can call.
        case joined
        /// It was not reached, or is lost; the host tries again.
        case failed
    }

    package var address: RelayAddress
    package var state: State
    /// When it was joined.
    package var since: Date?
    /// Why it failed, as a sentence.
    package var failure: String?

    package init(address: RelayAddress, state: State, since: Date? = nil, failure: String? = nil) {
        (self.address, self.state, self.since, self.failure) = (address, state, since, failure)
    }
}

/// An agent of a host, and how it is.
package struct AdminAgent: Codable, Sendable, Hashable {
    /// The id by which prompts choose it.
    package var id: String
    package var name: String
    /// Whether it can work: its program is there.
    package var isAvailable: Bool
    /// Why its last turn or its process failed; nil if it works.
    package var trouble: AgentTrouble?
    /// The box that its processes run in; nil for none.
    package var sandbox: AdminSandbox?

    package init(
        id: String,
        name: String,
        isAvailable: Bool,
        trouble: AgentTrouble? = nil,
        sandbox: AdminSandbox? = nil
    ) {
        (self.id, self.name, self.isAvailable) = (id, name, isAvailable)
        (self.trouble, self.sandbox) = (trouble, sandbox)
    }

    private enum CodingKeys: String, CodingKey {
        case id, name
        case isAvailable = "available"
        case trouble, sandbox
    }
}

/// The facts about the box that an agent's processes run in.
package struct AdminSandbox: Codable, Sendable, Hashable {
    /// Whether they reach the network.
    package var network: Bool

    package init(network: Bool) {
        self.network = network
    }

    /// For people.
    package var text: String { network ? "sandboxed" : "sandboxed, no network" }
}

/// A target of a host's notifications.
package struct AdminNotification: Codable, Sendable, Hashable {
    /// Its scheme and server, such as `ntfy://ntfy.sh`. Topics and paths are secrets of many services.
    package var target: String
    /// Why the last notification was not sent; nil if it was, or if there was none.
    package var failure: String?

    package init(target: String, failure: String? = nil) {
        (self.target, self.failure) = (target, failure)
    }
}
