import CompanionWire

extension FakeAICLIState {
    /// Runs a turn, whether its client stays or not.
    func performTurn(_ frame: FakeAICLI.Frame, for socket: FakeAICLISocket) async {
        let session = frame.data["sessionId"]?.string ?? ""
        let prompt = frame.data["command"]?.string ?? ""
        guard script.sessions[session] != nil else {
            await socket.sendError("INVALID_SESSION", "Session \(session) not found", requestID: frame.requestID)
            await socket.sendError("COMMAND_FAILED", "Session \(session) not found", requestID: frame.requestID)
            return
        }
        var asker = Asker(request: frame.requestID, socket: socket)
        for step in nextTurn(for: prompt).steps {
            do { try await perform(step, session: session, &asker) } catch { return }
        }
    }

    /// - Parameter asker: The client that gets the reply: the last one that has prompted.
    private func perform(_ step: FakeAICLITurn.Step, session: String, _ asker: inout Asker) async throws {
        let isJuly = script.generation == .july
        switch step {
        // There, the answer comes before the result.
        case .push("conversationResult", _) where isJuly: break
        case .push(let type, let data): await push(type, data, session: session)
        case .pushed(let age, let type, let data): await push(type, data, session: session, age: age)
        case .ask(let prompt, let options, let tool, let copies):
            let number = nextQuestion()
            let words = options.map { JSONText.quoted($0) }.joined(separator: ",")
            let data =
                #""prompt":\#(JSONText.quoted(prompt)),"options":[\#(words)],"default":"n""#
                + (tool.map { #","toolName":\#(JSONText.quoted($0))"# } ?? "")
            for copy in 0..<copies {
                // Once as a message, once as a question of its own.
                let isMessage = copy % 2 == 1
                let type = isMessage ? "assistantMessage" : isJuly ? "permissionRequest" : "permissionRequired"
                await push(type, (isMessage ? #""type":"permission_request","# : "") + data, session: session)
            }
            if script.asksWithinTurn || isJuly { return try await gates.pass("answered \(session) \(number)") }
            // The turn is over; what goes on is another one.
            expectAnswer(to: number, in: session)
            await reply(#""content":\#(JSONText.quoted(prompt)),"success":true,"error":null"#, session, asker)
            if let next = try await answer(to: number) { asker = next }
        case .ping:
            for client in clients(of: session) { await client.ping() }
        case .hold(let gate):
            gates.open("reached \(gate)")
            try await gates.pass("release \(gate)")
        case .untilAlone:
            try await waitForClients(of: session, present: false)
        case .untilJoined:
            try await waitForClients(of: session, present: true)
        case .reply(let text) where isJuly:
            let block = #"{"type":"text","text":\#(JSONText.quoted(text))}"#
            await push("assistantMessage", #""type":"assistant_response","content":[\#(block)]"#, session: session)
            guard case .push(let type, let data) = FakeAICLITurn.Step.result else { return }
            await push(type, data, session: session)
        case .reply(let text):
            await reply(#""content":\#(JSONText.quoted(text)),"success":true,"error":null"#, session, asker)
        case .replyFailed(let text):
            await reply(#""content":"","success":false,"error":\#(JSONText.quoted(text))"#, session, asker)
        case .error(let code, let message, let copies):
            for _ in 0..<copies { await asker.socket.sendError(code, message, requestID: asker.request) }
        case .forgetSessions: change { $0.sessions = [:] }
        case .resetAll: await resetAll()
        }
    }

    /// A reply goes to the connection that asked, or nowhere.
    private func reply(_ data: String, _ session: String, _ asker: Asker) async {
        let data = data + #","sessionId":\#(JSONText.quoted(session))"#
        await asker.socket.send("claudeResponse", data, requestID: asker.request)
    }
}
