import FoundationEssentials
import NIOCore

/// What passes through a connection that is kept: whole frames, from one command after the other to the Mac and back.
///
/// Commands for the holder itself (``LumiRequest/isForHolder``) never reach the Mac.
package struct LumiRelay: Sendable {
    package enum Action: Sendable, Hashable {
        /// Send this frame to the Mac, in one write (lumi, Limits).
        case toMac([UInt8])
        case toClient([UInt8])
        /// The client sent invalid data, so it is not a pairtool command.
        case leaveClient
        /// Close everything.
        case end
    }

    /// Asks how the connection was accepted; the answer is the generation's number.
    static let state = "pairtool.state"
    /// Has the holder close the connection.
    static let end = "pairtool.end"

    private struct Envelope: Decodable {
        var id: UUID
        var commandType: String
    }

    private struct Answer: Encodable {
        var id: UUID
        var success = true
        var result: String
    }

    private let generation: LumiGeneration
    private var fromClient = ByteBuffer()
    private var fromMac = ByteBuffer()
    private var hasClient = false
    /// Commands that the Mac has not answered. While there are some, nobody else may send one: older Macs do not survive
    /// two frames in one read.
    package private(set) var unanswered = 0

    package init(generation: LumiGeneration) {
        self.generation = generation
    }

    package mutating func clientCame() {
        hasClient = true
        fromClient.clear()
    }

    package mutating func clientLeft() {
        hasClient = false
        fromClient.clear()
    }

    /// Takes what the Mac has sent. What nobody waits for any more is dropped.
    package mutating func mac(_ bytes: [UInt8]) -> [Action] {
        fromMac.writeBytes(bytes)
        var actions: [Action] = []
        do {
            while let payload = try LumiFrameParser.next(from: &fromMac) {
                unanswered = max(0, unanswered - 1)
                if hasClient { actions.append(.toClient(Self.frame(payload))) }
            }
        } catch {
            return actions + [.end]
        }
        fromMac.discardReadBytes()
        return actions
    }

    /// Takes what a command has sent.
    package mutating func client(_ bytes: [UInt8]) -> [Action] {
        fromClient.writeBytes(bytes)
        var actions: [Action] = []
        do {
            while let payload = try LumiFrameParser.next(from: &fromClient) { actions.append(action(for: payload)) }
        } catch {
            return actions + [.leaveClient]
        }
        fromClient.discardReadBytes()
        return actions
    }

    private mutating func action(for payload: ByteBuffer) -> Action {
        // A command of the holder's is short; nothing else is looked into.
        if payload.readableBytes < 512,
            let envelope = try? JSONDecoder().decode(Envelope.self, from: Data(payload.readableBytesView))
        {
            switch envelope.commandType {
            case Self.state:
                let answer = Answer(id: envelope.id, result: "\(generation.rawValue)")
                let bytes = (try? JSONEncoder().encode(answer)) ?? Data()
                return .toClient(Self.frame(ByteBuffer(bytes: bytes)))
            case Self.end: return .end
            default: break
            }
        }
        unanswered += 1
        return .toMac(Self.frame(payload))
    }

    private static func frame(_ payload: ByteBuffer) -> [UInt8] {
        withUnsafeBytes(of: UInt32(payload.readableBytes).bigEndian) { Array($0) } + Array(payload.readableBytesView)
    }
}

extension LumiRequest {
    /// Asks the holder of a connection, not the Mac. It answers once the command before has ended.
    static let holderState = LumiRequest(LumiRelay.state, pace: .slow)

    /// The frame that has a holder end.
    package static func holderEndFrame() throws -> [UInt8] {
        let command = LumiCommand(commandType: LumiRelay.end, parameters: [:])
        return Array(try LumiFrameParser.frame(JSONEncoder().encode(command)).readableBytesView)
    }
}
