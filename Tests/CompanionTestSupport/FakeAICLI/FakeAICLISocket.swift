import CompanionWire
import NIOCore

/// A WebSocket of a client.
struct FakeAICLISocket: Sendable {
    let id: Int
    let connection: FakeAICLIConnection
    let state: FakeAICLIState
    let fault: FakeAICLIFault?
    private let deviceID: String?
    private let isWelcome: Bool
    /// Writes one message after the other.
    private let outgoing: FakeAICLIOutgoing

    init(
        connection: FakeAICLIConnection,
        state: FakeAICLIState,
        fault: FakeAICLIFault?,
        request: FakeMac.Request
    ) {
        self.connection = connection
        self.state = state
        self.fault = fault
        id = state.nextNumber()
        deviceID = request.header("x-device-id")
        isWelcome = state.allows(request)
        outgoing = FakeAICLIOutgoing(connection: connection, fault: fault)
    }

    func greet() async {
        guard isWelcome else { return await close(1008) }
        switch fault {
        case .silent: return
        case .resetBeforeWelcome: return await connection.reset()
        case .oversize: return await connection.write([0x81, 127, 0, 0, 0, 0, 0x40, 0, 0, 0])
        case .oversizeMessage:
            let mebibyte = [UInt8](repeating: UInt8(ascii: " "), count: 1 << 20)
            for number in 0..<9 {
                await connection.write(FakeAICLIOutgoing.frame(mebibyte, opcode: number == 0 ? 1 : 0, fin: number == 8))
            }
            return
        case .onlyGarbage:
            for _ in 0..<200 { await outgoing.text("}{ no message") }
            return
        case .wrongTypes:
            for text in [#"{"type":7,"data":[]}"#, #"[1,2]"#, #"{"type":"error","error":5,"data":"x"}"#, "null"] {
                await outgoing.text(text)
            }
        default: break
        }
        state.join(self)
        let data =
            #""clientId":"client-\#(id)","serverVersion":"1.0.0","capabilities":["streaming","permissions"],"maxSessions":10"#
        if state.script.generation == .http {
            await send("connected", #""clientId":"client-\#(id)""#)
        } else if state.script.greets {
            await send("welcome", data)
        }
    }

    /// Pings the client, and breaks the connection where no pong with the same payload comes.
    func ping() async {
        let payload = state.beginPing(id)
        await outgoing.control(9, payload)
        guard await !state.waitForPong(id, payload) else { return }
        leave()
        await connection.reset()
    }

    func leave() {
        state.leave(id)
    }

    /// Says that it closes, and leaves the connection to the client to end, as `ws` of Node does (for 30 s): ended at once,
    /// the frame may be lost on its way through a client that is still at the answer to the upgrade.
    func close(_ code: Int) async {
        await connection.write([0x88, 2, UInt8(code >> 8), UInt8(code & 0xFF)])
    }

    // MARK: What is sent

    /// A frame, with a time of its own.
    func send(_ type: String, _ data: String, requestID: String? = nil) async {
        await outgoing.text(state.frame(type, data, requestID: requestID))
    }

    func push(_ frame: String) async {
        await outgoing.text(frame)
        if fault == .duplicates { await outgoing.text(frame) }
    }

    func sendError(_ code: String, _ message: String, requestID: String) async {
        let error = #"{"code":\#(JSONText.quoted(code)),"message":\#(JSONText.quoted(message))}"#
        await outgoing.text(
            #"{"type":"error","requestId":\#(JSONText.quoted(requestID)),"timestamp":\#(state.timeText),"error":\#(error)}"#
        )
    }

    // MARK: What comes

    func take(_ frame: FakeAICLIInput.Frame) async {
        switch frame.opcode {
        case 10:
            guard !state.takePong(id, frame.payload) else { return }
            leave()
            await connection.reset()
        case 8: try? await connection.channel.close()
        case 1:
            guard let value = JSONValue(lenient: frame.payload), let type = value["type"]?.string else { return }
            let frame = FakeAICLI.Frame(
                type: type,
                requestID: value["requestId"]?.string ?? "",
                data: value["data"] ?? .null,
                deviceID: deviceID
            )
            state.record(frame)
            if fault != .silent { await handle(frame) }
        default: break
        }
    }

    private func handle(_ frame: FakeAICLI.Frame) async {
        switch frame.type {
        case "ping":
            if fault != .noPong { await send("pong", #""serverTime":\#(state.timeText)"#, requestID: frame.requestID) }
            for kept in state.takeKept(id) { await push(kept) }
        case "subscribe":
            let ids = frame.data["sessionIds"]?.array?.compactMap(\.string) ?? []
            // Nothing answers a subscription.
            state.subscribe(id, to: ids)
        case "streamStart": await start(frame)
        case "claudeCommand":
            if fault == .resetAfterPrompt { await connection.reset() }
            if fault == .closeAfterPrompt { await close(1001) }
            if [.resetAfterPrompt, .closeAfterPrompt].contains(fault) { leave() }
            if state.takeAnswer(frame, from: self) { return }
            state.runTurn(frame, for: self)
        case "permission":
            let answer = frame.data["response"]?.string ?? ""
            state.gates.open("answered \(frame.data["sessionId"]?.string ?? "") \(state.questionCount)")
            await send("permission", #""success":true,"accepted":\#(answer == "y")"#, requestID: frame.requestID)
        case "streamClose":
            guard state.script.closesStreams else { return }
            state.change { $0.sessions[frame.data["sessionId"]?.string ?? ""] = nil }
            await send("streamClose", #""success":true"#, requestID: frame.requestID)
        default:
            // Real servers say it twice.
            await sendError("ROUTING_ERROR", "Unknown message type: \(frame.type)", requestID: frame.requestID)
            await sendError("HANDLER_ERROR", "No handler for \(frame.type)", requestID: frame.requestID)
        }
    }

    private func start(_ frame: FakeAICLI.Frame) async {
        do throws(FakeAICLIRefusal) {
            let session = try state.startSession(frame.data)
            state.join(id, session: session)
            await send(
                state.script.generation == .july ? "streamStarted" : "streamStart",
                #""success":true,"sessionId":\#(JSONText.quoted(session))"#,
                requestID: frame.requestID
            )
        } catch {
            await sendError("STREAM_START_FAILED", error.message, requestID: frame.requestID)
            await sendError("HANDLER_ERROR", error.message, requestID: frame.requestID)
        }
    }
}

struct FakeAICLIRefusal: Error {
    var message: String
}

/// Frames of a server: not masked.
private actor FakeAICLIOutgoing {
    private let connection: FakeAICLIConnection
    private let fault: FakeAICLIFault?
    private var tail: Task<Void, Never>?

    init(connection: FakeAICLIConnection, fault: FakeAICLIFault?) {
        self.connection = connection
        self.fault = fault
    }

    /// Sends a message behind those before it.
    func text(_ text: String) async {
        await write(frames(of: text))
    }

    func control(_ opcode: UInt8, _ payload: [UInt8]) async {
        await write([Self.frame(payload, opcode: opcode)])
    }

    private func write(_ frames: [[UInt8]]) async {
        let (connection, before) = (connection, tail)
        let task = Task {
            await before?.value
            for frame in frames { await connection.write(frame) }
        }
        tail = task
        await task.value
    }

    private func frames(of text: String) -> [[UInt8]] {
        let bytes = Array(text.utf8)
        switch fault {
        case .split:
            let pieces = stride(from: 0, to: bytes.count, by: 3).map { Array(bytes[$0..<min($0 + 3, bytes.count)]) }
            return pieces.enumerated().map { index, piece in
                let isLast = index == pieces.count - 1
                return [(isLast ? 0x80 : 0) | (index == 0 ? 1 : 0), UInt8(piece.count)] + piece
            }
        case .drip: return Self.frame(bytes).map { [$0] }
        case .garbage: return [Self.frame(Array("{not json".utf8)), Self.frame([0xFF, 0xFE, 0x00]), Self.frame(bytes)]
        default: return [Self.frame(bytes)]
        }
    }

    static func frame(_ payload: [UInt8], opcode: UInt8 = 1, fin: Bool = true) -> [UInt8] {
        let count = payload.count
        let first = (fin ? 0x80 : 0) | opcode
        switch count {
        case ..<126: return [first, UInt8(count)] + payload
        case ..<65536: return [first, 126, UInt8(count >> 8), UInt8(count & 0xFF)] + payload
        default:
            let length = (0..<8).map { UInt8(count >> (56 - 8 * $0) & 0xFF) }
            return [first, 127] + length + payload
        }
    }
}
