package import FoundationEssentials

/// A request for approval, by an agent or a daemon of a host of any family. All texts are the requester's: sanitise
/// them before they reach a terminal.
///
/// Its JSON is that of a host's requests: daemons have their own.
package struct Approval: Codable, Sendable, Hashable, Identifiable {
    /// The kind of a request that is a form.
    package static let formKind = "form"
    /// The kind of a request that is a page to be opened.
    package static let linkKind = "link"

    /// How far a request is. Daemons may have more words than these.
    package struct State: RawRepresentable, Encodable, Sendable, Hashable {
        package let rawValue: String

        package init(rawValue: String) { self.rawValue = rawValue }

        /// Nobody has answered yet.
        package static let open = State(rawValue: "open")
        /// Somebody allowed it.
        package static let approved = State(rawValue: "approved")
        /// Somebody refused it.
        package static let rejected = State(rawValue: "rejected")
        /// Nobody answered in time: the answer was no.
        package static let expired = State(rawValue: "expired")
        /// Its turn ended.
        package static let cancelled = State(rawValue: "cancelled")
        /// The host ended, and with it the agent that asked.
        package static let interrupted = State(rawValue: "interrupted")

        private static let ofHosts: Set<State> = [open, approved, rejected, expired, cancelled, interrupted]

        /// The state of an agent's request at a host.
        ///
        /// - Returns: nil for a word that the protocol does not have.
        package init?(ofHost word: String) {
            let state = State(rawValue: word)
            guard Self.ofHosts.contains(state) else { return nil }
            self = state
        }
    }

    /// The id of the request, which an answer has to give.
    package var id: String
    /// The id of the chat that the request belongs to; empty for none.
    package var chatId: String
    /// The id of the turn that the request belongs to; empty for none.
    package var turnId: String
    /// A short description of the action that the requester wants to take.
    package var title: String
    /// The kind of tool that the requester wants to use, such as `edit` or `execute`; ``formKind`` or ``linkKind`` for
    /// what is no tool; empty for none.
    package var kind: String
    /// The action in full: a command, a difference, or JSON. nil in lists.
    package var arguments: String?
    /// The possible answers; nil if there are only approve and reject.
    package var options: [ApprovalOption]?
    /// The form that a person is to fill in; nil for none, and in lists.
    package var form: ApprovalForm?
    /// The URL that a person is to open; nil for none, and in lists.
    package var link: String?
    /// Why, in the words of a daemon's requester.
    package var reason: String?
    /// The name of the requester, if a daemon knows it; else nil.
    package var requestedBy: String?
    /// Other members of a daemon's request, as texts by their names; nil from other hosts.
    package var details: [String: String]?
    /// The time of the request; nil if the host does not tell it.
    package var askedAt: Date?
    /// When the request is rejected without an answer; nil if it never expires.
    package var expiresAt: Date?
    /// How far the request is; only one that is open can be decided.
    package var state: State
    /// The id of the option that was chosen.
    package var option: String?
    /// A name, for people, of the person or device that answered; nil if nobody did, or the host does not tell.
    package var decidedBy: String?
    /// The time of the answer; nil if there is none yet, or the host does not tell.
    package var decidedAt: Date?
    /// The agent's mode when it asked; nil where that is not known.
    package var mode: AgentMode?
    /// When the agent went on after the answer; nil where it did not yet, the host was restarted since, or the host
    /// does not tell.
    package var continuedAt: Date?

    package init(
        id: String,
        chatId: String = "",
        turnId: String = "",
        title: String,
        kind: String = "",
        arguments: String? = nil,
        options: [ApprovalOption]? = nil,
        askedAt: Date? = nil,
        expiresAt: Date? = nil,
        state: State = .open,
        option: String? = nil,
        decidedBy: String? = nil,
        decidedAt: Date? = nil,
        mode: AgentMode? = nil
    ) {
        self.id = id
        self.chatId = chatId
        self.turnId = turnId
        self.title = title
        self.kind = kind
        self.arguments = arguments
        self.options = options
        self.askedAt = askedAt
        self.expiresAt = expiresAt
        self.state = state
        self.option = option
        self.decidedBy = decidedBy
        self.decidedAt = decidedAt
        self.mode = mode
    }

    private enum CodingKeys: CodingKey {
        case id, chatId, turnId, title, kind, arguments, options, form, link, askedAt, expiresAt
        case state, option, decidedBy, decidedAt, mode, continuedAt
    }

    package init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        let word = try members.decode(String.self, forKey: .state)
        guard let state = State(ofHost: word) else {
            throw DecodingError.dataCorruptedError(forKey: .state, in: members, debugDescription: "unknown state")
        }
        self.init(
            id: try members.decode(String.self, forKey: .id),
            chatId: try members.decode(String.self, forKey: .chatId),
            turnId: try members.decode(String.self, forKey: .turnId),
            title: try members.decode(String.self, forKey: .title),
            kind: try members.decode(String.self, forKey: .kind),
            arguments: try members.decodeIfPresent(String.self, forKey: .arguments),
            options: try members.decode([ApprovalOption].self, forKey: .options),
            askedAt: try members.decode(Date.self, forKey: .askedAt),
            expiresAt: try members.decode(Date.self, forKey: .expiresAt),
            state: state,
            option: try members.decodeIfPresent(String.self, forKey: .option),
            decidedBy: try members.decodeIfPresent(String.self, forKey: .decidedBy),
            decidedAt: try members.decodeIfPresent(Date.self, forKey: .decidedAt),
            mode: try members.decodeIfPresent(AgentMode.self, forKey: .mode)
        )
        form = try members.decodeIfPresent(ApprovalForm.self, forKey: .form)
        link = try members.decodeIfPresent(String.self, forKey: .link)
        continuedAt = try members.decodeIfPresent(Date.self, forKey: .continuedAt)
    }

    /// Whether the request waits for an answer.
    package var isPending: Bool { state == .open }

    /// The chosen answer, in the agent's words; nil without one.
    package var chosen: String? { options?.name(of: option) }

    /// Whether it asks for values or for a page to be opened, not for leave to use a tool.
    package var asksPerson: Bool {
        // Daemons have words of their own.
        options != nil && (kind.isSame(as: Self.formKind) || kind.isSame(as: Self.linkKind))
    }

    /// The request as lists have it.
    package var withoutArguments: Approval {
        var approval = self
        (approval.arguments, approval.form, approval.link) = (nil, nil, nil)
        return approval
    }
}

/// One of the answers to a request.
package struct ApprovalOption: Codable, Sendable, Hashable {
    /// The effect of an answer, as the Agent Client Protocol names it (`PermissionOptionKind`).
    package enum Kind: String, Codable, Sendable, Hashable {
        case allowOnce = "allow_once"
        case allowAlways = "allow_always"
        case rejectOnce = "reject_once"
        case rejectAlways = "reject_always"
        /// One that this version does not know.
        case other

        package init(from decoder: any Decoder) throws {
            self = Kind(rawValue: try decoder.singleValueContainer().decode(String.self)) ?? .other
        }

        /// Whether the agent is told not to go on with the tool.
        package var isRefusal: Bool { self == .rejectOnce || self == .rejectAlways }

        /// Whether the answer may go for more than this question.
        package var mayLast: Bool { self != .allowOnce && self != .rejectOnce }

        /// The effect of the answer in two words, for people.
        package var text: String {
            switch self {
            case .allowOnce: "allow once"
            case .allowAlways: "allow always"
            case .rejectOnce: "reject once"
            case .rejectAlways: "reject always"
            case .other: "unknown"
            }
        }
    }

    /// The most bytes of ``id``.
    package static let idSize = 256

    /// The answers to a form, and to a page that is to be opened; their ids are the words of the Agent Client Protocol.
    package static let accept = ApprovalOption(id: "accept", name: "Answer", kind: .allowOnce)
    package static let decline = ApprovalOption(id: "decline", name: "Decline", kind: .rejectOnce)
    /// Neither yes nor no: the person goes on without it.
    package static let dismiss = ApprovalOption(id: "cancel", name: "Dismiss", kind: .rejectOnce)

    /// The agent's id for the answer.
    package var id: String
    /// The agent's name for the answer. It may say anything: show ``label``, which adds the effect.
    package var name: String
    /// The effect of the answer, which decides whether it counts as approval.
    package var kind: Kind

    package init(id: String, name: String, kind: Kind) {
        self.id = id
        self.name = name
        self.kind = kind
    }

    /// The most scalars of a name that are shown: a long one would push away what the answer does.
    private static let shownLength = 30

    /// A name as questions show it.
    package static func shown(_ name: String) -> String {
        let name = name.trimmingWhitespace()
        let beginning = name.oneLine(atMost: shownLength)
        return name.unicodeScalars.count <= shownLength ? beginning : beginning + "…"
    }

    /// The agent's name for the answer, and what it does: an agent may call an answer “No” that lets it go on.
    package var label: String { "\(Self.shown(name)) (\(kind.text))" }
}

extension [ApprovalOption] {
    /// All answers in a line, each with its id where its name is cut or others have it, too.
    package var offered: String {
        map { option in
            let isWhole = ApprovalOption.shown(option.name).isSame(as: option.name)
            let isUnique = count { $0.name.isSame(as: option.name) } == 1
            return isWhole && isUnique ? option.label : "\(option.label), id \(option.id)"
        }.joined(separator: "; ")
    }

    /// The name of the option with an id; nil without one.
    package func name(of id: String?) -> String? {
        id.flatMap { id in first { $0.id.isSame(as: id) }?.name }
    }
}

/// A notice about a question for the readers of a turn: it was asked, it was decided, or the agent went on.
package struct ApprovalNotice: Sendable, Hashable {
    /// The steps of a question. The raw values are the `type` of the frames.
    package enum Phase: String, Sendable, Hashable, CaseIterable {
        case asked = "approval_asked"
        case decided = "approval_decided"
        case continued = "approval_continued"
    }

    /// The step that the notice is about.
    package var phase: Phase
    /// The id of the question.
    package var id: String
    /// A short description of the action that the agent wants to take.
    package var title: String
    /// The kind of tool that the question is about; empty for none.
    package var kind: String
    /// How far the question is after this step.
    package var state: Approval.State
    /// The answer in the agent's words; nil without one.
    package var answer: String?
    /// A name, for people, of the person or device that answered; nil if nobody did.
    package var decidedBy: String?
    /// The time when the question is rejected without an answer; nil if it never is, and once the question is decided.
    package var expiresAt: Date?
    /// The agent's mode when it asked; nil where that is not known, and once the question is decided.
    package var mode: AgentMode?
    /// Seconds that it could be answered, where nobody did. Frames do not have it: the host says it in a status.
    package var openFor: Double?

    /// Whether it is about a form or a page, not about leave to use a tool.
    package var asksPerson: Bool { kind.isSame(as: Approval.formKind) || kind.isSame(as: Approval.linkKind) }

    /// The outcome of a form or a page in a word, such as `declined`; nil for other questions and without an answer.
    package var formVerb: String? {
        guard asksPerson, let answer else { return nil }
        return [(ApprovalOption.accept, "answered"), (.decline, "declined"), (.dismiss, "dismissed")]
            .first { $0.0.name.isSame(as: answer) }?.1
    }

    /// Makes the notice for a step of a question.
    package init(_ phase: Phase, of question: Approval) {
        self.phase = phase
        id = question.id
        title = question.title
        kind = question.kind
        state = question.state
        answer = question.chosen
        decidedBy = question.decidedBy
        expiresAt = phase == .asked ? question.expiresAt : nil
        mode = phase == .asked ? question.mode : nil
        guard phase == .decided, question.state == .expired || question.state == .interrupted,
            let askedAt = question.askedAt, let expiresAt = question.expiresAt
        else { return }
        openFor = expiresAt.timeIntervalSince(askedAt)
    }

    package init(
        _ phase: Phase,
        id: String,
        title: String,
        kind: String,
        state: Approval.State,
        answer: String? = nil,
        decidedBy: String? = nil,
        expiresAt: Date? = nil,
        mode: AgentMode? = nil
    ) {
        self.phase = phase
        self.id = id
        self.title = title
        self.kind = kind
        self.state = state
        self.answer = answer
        self.decidedBy = decidedBy
        self.expiresAt = expiresAt
        self.mode = mode
    }
}

/// The answer of `GET /companion/approvals`.
package struct ApprovalsListResponse: Codable, Sendable, Hashable {
    package var ok: Bool
    /// Without their arguments: open ones first, oldest first; then others, newest first.
    package var approvals: LossyArray<Approval>

    package init(approvals: [Approval]) {
        ok = true
        self.approvals = LossyArray(approvals)
    }
}

/// The answer of `GET /companion/approvals/:id`: a request, and what this device may do about it.
package struct ApprovalResponse: Codable, Sendable, Hashable {
    package var ok: Bool
    package var approval: Approval
    /// Whether this device has the permission to answer.
    package var mayDecide: Bool
    /// Whether devices may choose an answer that goes for later questions too.
    package var mayAlways: Bool

    package init(approval: Approval, mayDecide: Bool, mayAlways: Bool) {
        ok = true
        self.approval = approval
        self.mayDecide = mayDecide
        self.mayAlways = mayAlways
    }
}
