import CompanionApp
import CompanionWire
import Terminal
import Testing

@testable import pairtool

/// An editor in this process before an ``EditorBridge``. It gives leave for whatever it is asked.
actor TestEditor {
    private let input: AsyncStream<[UInt8]>.Continuation
    private var waiting: [Int: CheckedContinuation<JSONValue, Never>] = [:]
    private var count = 0
    /// Whether it leaves questions open.
    private var holds = false
    /// Who waits for a text in an update.
    private var watches: [(text: String, CheckedContinuation<Void, Never>)] = []
    /// The updates that it was told, in their order.
    private(set) var updates: [JSONValue] = []
    /// Methods that it was asked for.
    private(set) var asked: [String] = []

    private init(_ input: AsyncStream<[UInt8]>.Continuation) { self.input = input }

    /// Runs a body with the editor of a user, who has one paired host. It is not looked for elsewhere when it does not
    /// answer.
    static func with<R>(_ user: Sandbox, _ body: (TestEditor) async throws -> R) async throws -> R {
        let (lines, input) = AsyncStream.makeStream(of: [UInt8].self)
        let (told, output) = AsyncStream.makeStream(of: [UInt8].self)
        let editor = TestEditor(input)
        let context = user.context(environment: ["PAIRTOOL_INTERFACE": "none0"])
        let bridge = EditorBridge(
            host: HostSelector(),
            environment: Output(context: context, format: .text).environment(),
            choices: EditorBridge.Choices(version: "1")
        ) { output.yield($0) }
        async let running: Void = bridge.run(lines)
        async let reading: Void = { for await line in told { await editor.take(line) } }()
        let result: Result<R, any Error>
        do {
            result = .success(try await body(editor))
        } catch {
            result = .failure(error)
        }
        input.finish()
        await running
        output.finish()
        await reading
        return try result.get()
    }

    private func take(_ line: [UInt8]) {
        #expect(line.last == UInt8(ascii: "\n") && !line.dropLast().contains(UInt8(ascii: "\n")))
        for message in ACPMessage.all(in: line) {
            switch message {
            case .answer(let id, let result):
                let answer: JSONValue =
                    switch result {
                    case .success(let value): value
                    case .failure(let refusal): ["code": .integer(refusal.code), "message": .string(refusal.message)]
                    }
                id.number.flatMap { waiting.removeValue(forKey: $0) }?.resume(returning: answer)
            case .notification("session/update", let parameters):
                updates.append(parameters["update"] ?? .null)
                for (text, watch) in watches where hasSeen(text) { watch.resume() }
                watches.removeAll { hasSeen($0.text) }
            case .notification(let method, _): asked.append(method)
            case .request(let id, let method, let parameters):
                asked.append(method)
                guard !holds else { continue }
                let option = parameters["options"]?.array?.first?["optionId"] ?? .null
                let outcome: JSONValue = ["outcome": ["outcome": "selected", "optionId": option]]
                input.yield(ACPMessage.answer(id, .success(outcome)).line)
            }
        }
    }

    /// - Returns: The answer; an object with `code` for a refusal.
    @discardableResult
    func call(_ method: String, _ parameters: JSONValue) async -> JSONValue {
        let number = count
        count += 1
        return await withCheckedContinuation { continuation in
            waiting[number] = continuation
            let message: JSONValue = [
                "jsonrpc": "2.0", "id": .integer(Int64(number)), "method": .string(method), "params": parameters,
            ]
            input.yield(message.json + [UInt8(ascii: "\n")])
        }
    }

    /// Begins a session in a directory.
    ///
    /// - Returns: Its id.
    func begin(in directory: String) async throws -> String {
        await call("initialize", ["protocolVersion": 1, "clientCapabilities": [:]])
        let answer = await call("session/new", ["cwd": .string(directory), "mcpServers": []])
        return try #require(answer["sessionId"]?.string, "\(answer)")
    }

    func prompt(_ text: String, in session: String) async -> JSONValue {
        await call(
            "session/prompt",
            ["sessionId": .string(session), "prompt": [["type": "text", "text": .string(text)]]]
        )
    }

    func hold() { holds = true }

    func notify(_ method: String, _ parameters: JSONValue) {
        input.yield(ACPMessage.notification(method: method, parameters: parameters).line)
    }

    private func hasSeen(_ text: String) -> Bool {
        updates.contains { $0["content"]?["text"]?.string == text }
    }

    /// Waits for an update with a text.
    func see(_ text: String) async {
        guard !hasSeen(text) else { return }
        await withCheckedContinuation { watches.append((text, $0)) }
    }

    /// Takes the updates that came so far.
    func takeUpdates() -> [JSONValue] {
        defer { updates = [] }
        return updates
    }
}
