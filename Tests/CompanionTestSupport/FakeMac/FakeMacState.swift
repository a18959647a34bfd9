import CompanionWire
import FoundationEssentials
import NIOConcurrencyHelpers

/// The state of a fake host, behind a lock.
final class FakeMacState: ConnectionAnswering {
    struct Contents: Sendable {
        var script: FakeMacScript
        var challenge: Challenge?
        var devices: [CompanionDevice] = []
        var connected: ConnectedCompanionDevice?
        var requests: [FakeMac.Request] = []
        var delayed: [Delayed] = []
        var nextMessage = 0
    }

    struct Challenge: Sendable {
        var code: String
        var token: String
        var expiresAt: Date
    }

    /// An answer that the history has after so many more reads.
    struct Delayed: Sendable {
        var chatID: String
        var reads: Int
        var answer: String
    }

    let gates = Gates()
    private let contents: NIOLockedValueBox<Contents>

    init(script: FakeMacScript) {
        var contents = Contents(script: script)
        let now = Date()
        if script.hasChallenge {
            contents.challenge = Challenge(
                code: script.code,
                token: script.token,
                expiresAt: script.challengeExpiresAt ?? now + script.clockSkew.seconds + 300
            )
        }
        if script.isPaired { contents.connect(name: "iPhone", publicKey: "someone") }
        self.contents = NIOLockedValueBox(contents)
    }

    var requests: [FakeMac.Request] { contents.withLockedValue(\.requests) }

    func change(_ body: (inout FakeMacScript) -> Void) {
        contents.withLockedValue { body(&$0.script) }
    }

    func connect(name: String) {
        contents.withLockedValue { $0.connect(name: name, publicKey: name) }
    }

    /// A new process takes the old one's place: what ran is lost, and the account has to sign in again.
    func restart() {
        contents.withLockedValue { contents in
            contents.script.processStartedAt = contents.now
            contents.script.isSignedIn = false
            contents.script.turns = []
            contents.delayed = []
        }
    }

    func messages(of chatID: String) -> [CompanionMessage] {
        contents.withLockedValue { $0.script.messages[chatID] ?? [] }
    }

    func store(_ answer: String, in chatID: String) {
        contents.withLockedValue { $0.append(.assistant, answer, to: chatID) }
    }

    /// Notes a request and decides what to do about it.
    func answer(to request: FakeMac.Request) -> [FakeMacAction] {
        contents.withLockedValue { contents in
            contents.requests.append(request)
            guard let index = contents.script.faults.firstIndex(where: { $0.hits(request) }) else {
                return contents.answer(to: request, host: self)
            }
            if let times = contents.script.faults[index].times { contents.script.faults[index].times = times - 1 }
            return contents.misbehave(contents.script.faults[index].kind, to: request, host: self)
        }
    }
}

extension FakeMacFault {
    func hits(_ request: FakeMac.Request) -> Bool {
        request.path.hasPrefix(path) && method.map { $0 == request.method } ?? true && (times ?? 1) > 0
    }
}

extension FakeMacState.Contents {
    var now: Date { Date() + script.clockSkew.seconds }

    /// The device id is the hash of the trimmed text of the key; a blank name becomes `iPhone`.
    mutating func connect(name: String, publicKey: String) {
        let id = String(Digest.sha256(publicKey.trimmed).prefix(16))
        let name = name.trimmed.isEmpty ? "iPhone" : name
        devices.removeAll { $0.id == id }
        devices.append(CompanionDevice(id: id, name: name, pairedAt: now, lastSeenAt: now))
        connected = ConnectedCompanionDevice(id: id, name: name, connectedAt: now, lastSeenAt: now)
    }

    mutating func append(_ role: CompanionMessage.Role, _ text: String, to chatID: String) {
        let message = CompanionMessage(id: "new-\(nextMessage)", role: role, text: text, createdAt: now)
        nextMessage += 1
        script.messages[chatID, default: []].append(message)
    }

    /// Counts a read of a chat, and stores what is due.
    mutating func noteRead(of chatID: String) {
        for index in delayed.indices where delayed[index].chatID == chatID { delayed[index].reads -= 1 }
        for due in delayed where due.reads <= 0 { append(.assistant, due.answer, to: due.chatID) }
        delayed.removeAll { $0.reads <= 0 }
    }
}

extension Duration {
    var seconds: TimeInterval {
        Double(components.seconds) + Double(components.attoseconds) / 1e18
    }
}

extension String {
    /// Without the white space around it, as JavaScript's `trim`.
    var trimmed: String {
        let start = drop(while: \.isWhitespace)
        guard let last = start.lastIndex(where: { !$0.isWhitespace }) else { return "" }
        return String(start[...last])
    }

    /// With percent escapes undone.
    var percentDecoded: String {
        var bytes: [UInt8] = []
        var rest = Substring(self)
        while let character = rest.popFirst() {
            if character == "%", let byte = UInt8(rest.prefix(2), radix: 16), rest.count >= 2 {
                bytes.append(byte)
                rest = rest.dropFirst(2)
            } else {
                bytes += Array(String(character).utf8)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
