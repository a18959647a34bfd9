extension FakeMacState.Contents {
    mutating func misbehave(
        _ kind: FakeMacFault.Kind,
        to request: FakeMac.Request,
        host: FakeMacState
    ) -> [FakeMacAction] {
        switch kind {
        case .redirect(let target):
            return [reply(302, "text/plain", Array("Found".utf8), extra: "Location: \(target)\r\n")]
        case .oversized(let bytes, let declared):
            let body = [UInt8](repeating: UInt8(ascii: " "), count: bytes)
            guard declared else {
                return [.send("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n"), .send(body), .close]
            }
            return [reply(200, "application/json", body)]
        case .garbage(let bytes):
            return [.send(bytes), .close]
        case .page(let status):
            return page(status, "Cannot \(request.method) \(request.path)")
        case .json(let status, let text):
            return [json(status, text)]
        case .raw(let text):
            return [.send(text), .close]
        case .stall(let gate):
            return [.hold(gate)] + answer(to: request, host: host)
        case .reset:
            return [.reset]
        case .close:
            return [.close]
        case .cutBody:
            return [reply(200, "application/json", Array(#"{"ok":true,"#.utf8), length: 1000), .close]
        case .drip:
            return answer(to: request, host: host).map { action in
                if case .send(let bytes) = action { .drip(bytes) } else { action }
            }
        }
    }
}
