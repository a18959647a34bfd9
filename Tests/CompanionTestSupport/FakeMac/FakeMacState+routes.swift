import CompanionWire
import FoundationEssentials

extension FakeMacState.Contents {
    /// Answers as protocol v1 says.
    mutating func answer(to request: FakeMac.Request, host: FakeMacState) -> [FakeMacAction] {
        // Express refuses bodies of more than 100 kB, and malformed ones, before it looks for a route.
        guard request.body.count <= 102_400 else { return page(413, "PayloadTooLargeError: request entity too large") }
        let isJSON = request.header("Content-Type")?.lowercased().hasPrefix("application/json") ?? false
        let body = isJSON && !request.body.isEmpty ? request.body : Array("{}".utf8)
        guard (try? JSONDecoder().decode(AnyObject.self, from: Data(body))) != nil else {
            return page(400, "SyntaxError: Unexpected token in JSON at position 0")
        }
        let parts = request.path.split(separator: "/", omittingEmptySubsequences: false).dropFirst()
            .map { String($0).percentDecoded }
        switch (request.method, parts.count, parts.first, parts.dropFirst().first) {
        case ("GET", 1, "health", _): return [json(200, health)]
        case ("GET", 1, "models", _): return models()
        case ("GET", 2, "auth", "status"): return json(CompanionAuthStatusResponse(authenticated: script.isSignedIn))
        case ("POST", 2, "companion", "command"): return failure(501, "Not implemented")
        case ("GET", 2, "companion", "status"): return json(CompanionStatusResponse(connectedDevice: connected))
        case ("POST", 2, "companion", "disconnect"):
            connected = nil
            return json(CompanionStatusResponse(connectedDevice: nil))
        case ("POST", 3, "companion", "pairing"):
            return pairing(parts[2], Data(body)) ?? unknown(request)
        case (_, 2..., "companion", "devices"):
            return devices(request.method, Array(parts.dropFirst(2))) ?? unknown(request)
        case (_, 2..., "companion", "projects"), (_, 2..., "companion", "chats"):
            return chats(request, parts, Data(body), host: host) ?? unknown(request)
        default: return unknown(request)
        }
    }

    private func unknown(_ request: FakeMac.Request) -> [FakeMacAction] {
        page(404, "Cannot \(request.method) \(request.path)")
    }

    private var health: String {
        #"{"ok":true,"service":\#(JSONText.quoted(script.service)),"nodeVersion":"v20.11.1","nodeExecPath":"/usr/local/bin/node","#
            + #""processStartedAtMs":\#(Int(script.processStartedAt.timeIntervalSince1970 * 1000))}"#
    }

    private func models() -> [FakeMacAction] {
        guard script.isSignedIn else { return failure(500, "Not authenticated") }
        return json(CompanionModelsResponse(models: script.models))
    }

    private mutating func devices(_ method: String, _ rest: [String]) -> [FakeMacAction]? {
        switch (method, rest.count) {
        case ("GET", 0):
            return json(DevicesListResponse(devices: devices))
        case ("DELETE", 1):
            let id = rest[0].trimmed
            guard !id.isEmpty else { return failure(400, CompanionErrorResponse.Text.missingDeviceID) }
            devices.removeAll { $0.id == id }
            if connected?.id == id { connected = nil }
            return json(CompanionStatusResponse(connectedDevice: connected))
        default: return nil
        }
    }

    private mutating func pairing(_ what: String, _ body: Data) -> [FakeMacAction]? {
        switch what {
        case "start": start(try? JSONDecoder().decode(PairingStartRequest.self, from: body))
        case "complete": complete(try? JSONDecoder().decode(CompleteFields.self, from: body))
        default: nil
        }
    }

    private mutating func start(_ request: PairingStartRequest?) -> [FakeMacAction] {
        let seconds = min(max((request?.ttlSeconds ?? 300).rounded(.towardZero), 60), 900)
        let next = FakeMacState.Challenge(code: script.code, token: script.token, expiresAt: now + seconds)
        challenge = next
        let expiry = CompanionTimestamp.string(from: next.expiresAt)
        let payload =
            #"{"protocol":"copilotforge-pair-v1","code":"\#(next.code)","#
            + #""token":"\#(next.token)","expiresAt":"\#(expiry)"}"#
        return json(PairingStartResponse(code: next.code, expiresAt: next.expiresAt, qrPayload: payload))
    }

    /// The checks come in the protocol's order; wrong tries are neither counted nor limited.
    private mutating func complete(_ fields: CompleteFields?) -> [FakeMacAction] {
        typealias Text = CompanionErrorResponse.Text
        guard let running = challenge else { return failure(400, Text.noActivePairing) }
        guard running.expiresAt > now else {
            challenge = nil
            return failure(400, Text.pairingExpired)
        }
        guard fields?.pairingCode?.trimmed == running.code else { return failure(400, Text.invalidCode) }
        if let token = fields?.pairingToken?.trimmed, !token.isEmpty, token != running.token {
            return failure(400, Text.invalidToken)
        }
        guard let key = fields?.devicePublicKey, !key.trimmed.isEmpty else {
            return failure(400, Text.missingPublicKey)
        }
        challenge = nil
        switch script.completeAnswer {
        case .notConnected:
            return json(CompanionStatusResponse(connectedDevice: nil))
        case .foreignDevice:
            connect(name: "another", publicKey: "another key")
        case .honest:
            connect(name: fields?.deviceName ?? "", publicKey: key)
        case .storageFault:
            connect(name: fields?.deviceName ?? "", publicKey: key)
            return failure(400, "ENOSPC: no space left on device")
        }
        return json(CompanionStatusResponse(connectedDevice: connected))
    }

    private struct CompleteFields: Decodable {
        var pairingCode: String?
        var pairingToken: String?
        var deviceName: String?
        var devicePublicKey: String?
    }

    /// Decodes from any JSON object.
    private struct AnyObject: Decodable {
        private struct Key: CodingKey {
            var stringValue: String
            var intValue: Int? { nil }
            init?(stringValue: String) { self.stringValue = stringValue }
            init?(intValue: Int) { nil }
        }

        init(from decoder: any Decoder) throws { _ = try decoder.container(keyedBy: Key.self) }
    }
}
