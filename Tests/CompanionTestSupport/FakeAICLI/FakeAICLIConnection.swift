import CompanionWire
import Crypto
import NIOCore

/// One connection: first HTTP, then frames, both of bytes, so that anything can be sent.
struct FakeAICLIConnection: Sendable {
    let channel: any Channel
    private let parts: AsyncStream<ByteBuffer>

    init(channel: any Channel) throws {
        let reader = InboundParts<ByteBuffer>()
        try channel.pipeline.syncOperations.addHandler(reader)
        self.channel = channel
        parts = reader.stream
    }

    /// Serves until the connection ends. A client that leaves is no fault.
    func serve(_ state: FakeAICLIState) async {
        var input = FakeAICLIInput()
        var socket: FakeAICLISocket?
        for await part in parts {
            input.append(part)
            while true {
                if let socket {
                    guard let frame = input.nextFrame() else { break }
                    await socket.take(frame)
                } else {
                    guard let request = input.nextRequest() else { break }
                    state.record(request)
                    socket = await answer(request, state)
                }
            }
        }
        socket?.leave()
        try? await channel.close()
    }

    /// - Returns: The WebSocket that the connection has become.
    private func answer(_ request: FakeMac.Request, _ state: FakeAICLIState) async -> FakeAICLISocket? {
        guard request.path == "/ws", let key = request.header("Sec-WebSocket-Key") else {
            if let answer = state.answer(to: request) { await write(answer) }
            return nil
        }
        let fault = state.nextFault()
        if fault == .silentHandshake { return nil }
        if fault == .closedHandshake {
            try? await channel.close()
            return nil
        }
        let accept = Base64.encode(
            Array(Insecure.SHA1.hash(data: Array((key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").utf8)))
        )
        let head =
            "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            + "Sec-WebSocket-Accept: \(accept)\r\n\r\n"
        await write(Array(head.utf8))
        let socket = FakeAICLISocket(connection: self, state: state, fault: fault, request: request)
        await socket.greet()
        return socket
    }

    func write(_ bytes: [UInt8]) async {
        _ = await channel.write(all: bytes)
    }

    func reset() async {
        await channel.reset()
    }
}

/// The bytes that have arrived and are not read yet.
struct FakeAICLIInput {
    struct Frame {
        var opcode: UInt8
        var payload: [UInt8]
    }

    private var bytes: [UInt8] = []

    mutating func append(_ part: ByteBuffer) {
        bytes += part.readableBytesView
    }

    mutating func nextRequest() -> FakeMac.Request? {
        let end = Array("\r\n\r\n".utf8)
        guard bytes.count >= end.count,
            let headEnd = bytes.indices.dropLast(end.count - 1).first(where: {
                bytes[$0] == end[0] && bytes[$0..<($0 + end.count)].elementsEqual(end)
            })
        else { return nil }
        let lines = String(decoding: bytes[..<headEnd], as: UTF8.self).split(separator: "\r\n")
        let words = lines.first?.split(separator: " ").map(String.init) ?? []
        let headers = lines.dropFirst().compactMap { line -> (name: String, value: String)? in
            guard let colon = line.firstIndex(of: ":") else { return nil }
            return (String(line[..<colon]), String(line[line.index(after: colon)...].drop { $0 == " " }))
        }
        var request = FakeMac.Request(
            method: words.first ?? "",
            target: words.count > 1 ? words[1] : "",
            headers: headers,
            body: []
        )
        let length = request.header("Content-Length").flatMap(Int.init) ?? 0
        let bodyStart = headEnd + end.count
        guard bytes.count >= bodyStart + length else { return nil }
        request.body = Array(bytes[bodyStart..<(bodyStart + length)])
        bytes.removeFirst(bodyStart + length)
        return request
    }

    /// Clients mask their frames, and send each message in one.
    mutating func nextFrame() -> Frame? {
        guard bytes.count >= 2 else { return nil }
        var length = Int(bytes[1] & 0x7F)
        var start = 2
        if length == 126 || length == 127 {
            let size = length == 126 ? 2 : 8
            guard bytes.count >= start + size else { return nil }
            length = bytes[start..<(start + size)].reduce(0) { $0 << 8 | Int($1) }
            start += size
        }
        guard bytes.count >= start + 4 + length else { return nil }
        let mask = Array(bytes[start..<(start + 4)])
        start += 4
        let payload = (0..<length).map { bytes[start + $0] ^ mask[$0 % 4] }
        let frame = Frame(opcode: bytes[0] & 0x0F, payload: payload)
        bytes.removeFirst(start + length)
        return frame
    }
}
