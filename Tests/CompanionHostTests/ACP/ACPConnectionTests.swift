import CompanionWire
import NIOConcurrencyHelpers
import Testing

@testable import CompanionHost

/// A conversation without a process: a test plays the agent.
@Suite("A conversation with an agent", .timeLimit(.minutes(15)))
struct ACPConnectionTests {
    /// The agent's side.
    private final class Peer {
        let connection: ACPConnection
        private var lines = ACPLines(limit: ACPClient.maximumLine)

        init(_ limits: ACPConnection.Limits = .init()) { connection = ACPConnection(limits: limits) }

        /// Writes messages at once.
        func write(_ messages: String...) {
            let bytes = Array(messages.map { $0 + "\n" }.joined().utf8)
            bytes.withUnsafeBytes { connection.receive($0, into: &lines) }
        }
    }

    private static func mode(_ id: String, of session: String = "s") -> String {
        #"{"method":"session/update","params":{"sessionId":"\#(session)","update":"#
            + #"{"sessionUpdate":"current_mode_update","currentModeId":"\#(id)"}}}"#
    }

    private static let option = #"{"id":"m","category":"mode","currentValue":"yolo","options":[]}"#
    private static let options =
        #"{"method":"session/update","params":{"sessionId":"s","update":"#
        + #"{"sessionUpdate":"config_option_update","configOptions":[\#(option)]}}}"#
    private static let asking = #""modes":{"currentModeId":"ask","availableModes":[]}"#

    private static let calls: [ACPCall] = [
        .newSession(directory: "/p"), .loadSession("s", directory: "/p"), .resumeSession("s", directory: "/p"),
    ]

    /// Asks an agent, which writes something once it has read that.
    private func ask(_ call: ACPCall, _ peer: Peer, _ messages: String...) async throws -> JSONValue {
        let answer = Task { [connection = peer.connection] in
            try await connection.call(call, chat: "c", within: .seconds(60))
        }
        for await _ in peer.connection.output { break }
        for message in messages { peer.write(message) }
        return try await answer.value
    }

    @Test(
        "The mode that comes together with the answer that begins a session counts",
        arguments: calls,
        [mode("yolo"), options]
    )
    func together(_ call: ACPCall, _ update: String) async throws {
        for members in ["", Self.asking] {
            let peer = Peer()
            let answer = #"{"id":0,"result":{"sessionId":"s"\#(members.isEmpty ? "" : ",")\#(members)}}"#
            _ = try await ask(call, peer, answer + "\n" + update)
            #expect(peer.connection.session(ofChat: "c") == .init(id: "s", directory: "/p"))
            #expect(peer.connection.modes(ofSession: "s")?.current == "yolo")
        }
    }

    @Test("A mode that is named before the answer counts, unless the answer names another", arguments: calls)
    func before(_ call: ACPCall) async throws {
        let silent = Peer()
        _ = try await ask(call, silent, Self.mode("yolo"), #"{"id":0,"result":{"sessionId":"s"}}"#)
        #expect(silent.connection.modes(ofSession: "s")?.current == "yolo")
        let other = Peer()
        _ = try await ask(call, other, Self.mode("yolo"), #"{"id":0,"result":{"sessionId":"s",\#(Self.asking)}}"#)
        #expect(other.connection.modes(ofSession: "s")?.current == "ask")
    }

    @Test("Modes of sessions that no chat has are not kept")
    func strangers() async throws {
        let peer = Peer()
        let updates = (0..<1000).map { Self.mode("yolo", of: "other-\($0)") }.joined(separator: "\n")
        _ = try await ask(.newSession(directory: "/p"), peer, updates, #"{"id":0,"result":{"sessionId":"s"}}"#)
        peer.write(Self.mode("plan"), Self.mode("yolo", of: "later"))
        let kept = peer.connection.state.withLockedValue { $0.modes.keys.map(\.text) }
        #expect(kept == ["s"])
    }

    @Test("A prompt is not sent in another mode than the one that was looked at")
    func changed() async throws {
        let peer = Peer()
        _ = try await ask(.newSession(directory: "/p"), peer, #"{"id":0,"result":{"sessionId":"s",\#(Self.asking)}}"#)
        let modes = try #require(peer.connection.modes(ofSession: "s"))
        peer.write(Self.mode("yolo"))
        let listener = ACPConnection.Listener(
            update: { _, _ in },
            question: { _ in },
            form: { _ in },
            withdrawn: { _ in }
        )
        await #expect(throws: ACPModeChanged.self) {
            try await peer.connection.prompt("go", session: "s", in: modes, listener: listener)
        }
        peer.connection.end(ACPEnd.asked)
        for await bytes in peer.connection.output {
            #expect(!String(decoding: bytes, as: UTF8.self).contains("session/prompt"))
        }
    }

    @Test("An agent that writes requests and does not read the answers is not answered for ever")
    func unread() {
        let id = String(repeating: "x", count: 1 << 12)
        var limits = ACPConnection.Limits()
        limits.queue = 1 << 16
        let reader = Peer(limits)
        let writer = Peer(limits)
        for _ in 0..<20 {
            reader.write(#"{"id":"\#(id)","method":"x","params":{}}"#)
            reader.connection.wrote(1 << 12)
            writer.write(#"{"id":"\#(id)","method":"x","params":{}}"#)
        }
        #expect(reader.connection.reason == nil)
        #expect(writer.connection.reason as? ACPFault == .unread)
    }
}
