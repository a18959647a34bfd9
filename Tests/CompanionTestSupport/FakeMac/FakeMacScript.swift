package import CompanionWire
package import FoundationEssentials

/// The content and behaviour of a ``FakeMac``. The defaults are a host of protocol v1 with a device connected.
package struct FakeMacScript: Sendable {
    /// The answer to the request that completes a pairing.
    package enum CompleteAnswer: Sendable {
        case honest
        /// `connected: false`, as after a storage fault that went unnoticed.
        case notConnected
        /// Another device's id: someone else was faster, or the host is not who it says.
        case foreignDevice
        /// Status 400, and the device is connected all the same.
        case storageFault
    }

    /// Whether a device is connected from the start: the gate is open.
    package var isPaired = true
    /// Whether the host's account is signed in. If not, requests for chats and prompts are answered with status 401.
    package var isSignedIn = true
    /// The code of the next challenge.
    package var code = "482913"
    /// The token of the next challenge, as its QR code has it.
    package var token = "5f0c1e9a7b3d4826a1c4e7f09b2d6835"
    /// Whether a challenge runs from the start.
    package var hasChallenge = true
    /// When the running challenge ends. Nil: 300 s from the start.
    package var challengeExpiresAt: Date?
    package var completeAnswer = CompleteAnswer.honest
    /// How far the `Date` header and the times that the host makes up are ahead.
    package var clockSkew: Duration = .zero
    package var projects: [CompanionProject] = FakeMacScript.defaultProjects
    package var chats: [CompanionChat] = FakeMacScript.defaultChats
    /// The messages of each chat, oldest first.
    package var messages: [String: [CompanionMessage]] = [:]
    package var models: [CompanionModel] = [
        CompanionModel(id: "gpt-test", name: "GPT Test"), CompanionModel(id: "other", name: "Other"),
    ]
    /// The turns of the next prompts, in order. When there is none left, the host says `You said: ` and the prompt.
    package var turns: [FakeMacTurn] = []
    /// The faults; the first one that matches a request counts.
    package var faults: [FakeMacFault] = []
    /// The kind of host that `/health` names.
    package var service = "copilotforge-sidecar"
    /// When the host's process began, as `/health` says.
    package var processStartedAt = FakeMacScript.epoch
    /// Whether a turn with a new chat lists the catch-all project.
    package var listsGeneral = true

    package init() {}

    /// The example of all times: 2026-11-21T09:30:00.000Z.
    package static let epoch = Date(timeIntervalSince1970: 1_795_253_400)

    /// Two directories, one of them listed twice, and the catch-all.
    package static let defaultProjects = [
        CompanionProject(id: "p-web", name: "web", localPath: "/Users/ada/web", lastUpdatedAt: epoch),
        CompanionProject(id: "p-web-2", name: "web copy", localPath: "/Users/ada/web/", lastUpdatedAt: epoch - 60),
        CompanionProject(id: "p-api", name: "api", localPath: "/Users/ada/api", lastUpdatedAt: epoch - 120),
        CompanionProject(id: "default-project", name: "General", localPath: "", lastUpdatedAt: epoch - 180),
    ]

    /// A chat in each listed project but the catch-all.
    package static let defaultChats = [
        CompanionChat(id: "c-login", projectId: "p-web", title: "Fix the login", lastUpdatedAt: epoch),
        CompanionChat(id: "c-cors", projectId: "p-web-2", title: "CORS", lastUpdatedAt: epoch - 60),
        CompanionChat(id: "c-api", projectId: "p-api", title: "Pagination", lastUpdatedAt: epoch - 120),
    ]

    /// Fills a chat with `m-0`, `m-1`, …: prompts and answers in turn.
    package mutating func fill(_ chatID: String, count: Int) {
        messages[chatID] = (0..<count).map { index in
            CompanionMessage(
                id: "m-\(index)",
                role: index % 2 == 0 ? .user : .assistant,
                text: "message \(index)",
                createdAt: Self.epoch + Double(index)
            )
        }
    }
}

/// A request that a ``FakeMac`` answers in another way than the protocol says.
package struct FakeMacFault: Sendable {
    package enum Kind: Sendable {
        case redirect(to: String)
        /// A body of this many bytes, with or without saying so first.
        case oversized(bytes: Int, declared: Bool)
        /// Bytes that are no HTTP.
        case garbage([UInt8])
        /// An HTML page.
        case page(status: Int)
        case json(status: Int, String)
        /// Bytes as they are, the head included; then the connection closes.
        case raw(String)
        /// Never answers until ``FakeMac/release(_:)``, then as it should.
        case stall(gate: String)
        /// Breaks the connection (TCP reset) before an answer.
        case reset
        /// Closes the connection before an answer.
        case close
        /// Says that the body is longer than it is, and closes.
        case cutBody
        /// As it should be, one byte at a time.
        case drip
    }

    /// Nil: any method.
    package var method: String?
    /// The beginning of the path.
    package var path: String
    package var kind: Kind
    /// How many requests it hits. Nil: all.
    package var times: Int?

    package init(_ kind: Kind, on path: String = "/", method: String? = nil, times: Int? = nil) {
        self.kind = kind
        self.path = path
        self.method = method
        self.times = times
    }
}
