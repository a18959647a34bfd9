import CompanionWire
import FoundationEssentials

extension FakeMacState.Contents {
    /// Projects, chats and messages, behind the gate.
    mutating func chats(
        _ request: FakeMac.Request,
        _ parts: [String],
        _ body: Data,
        host: FakeMacState
    ) -> [FakeMacAction]? {
        switch (request.method, parts.count, parts[1], parts.last) {
        case ("GET", 2, "projects", _):
            return gated ?? json(CompanionProjectsResponse(projects: script.projects))
        case ("GET", 4, "projects", "chats"):
            return gated ?? json(CompanionChatsResponse(chats: script.chats.filter { $0.projectId == parts[2] }))
        case ("GET", 4, "chats", "messages"):
            return gated ?? page(of: parts[2], request.target)
        case ("POST", 4, "chats", "continue"):
            return gated ?? proceed(parts[2], body, host: host)
        default:
            return nil
        }
    }

    private var gated: [FakeMacAction]? {
        if connected == nil { return failure(403, CompanionErrorResponse.Text.noDeviceConnected) }
        if !script.isSignedIn { return failure(401, CompanionErrorResponse.Text.authRequired) }
        return nil
    }

    private mutating func page(of chatID: String, _ target: String) -> [FakeMacAction] {
        noteRead(of: chatID)
        func number(_ name: String, _ fallback: Int) -> Int {
            let query = target.split(separator: "?", maxSplits: 1).dropFirst().first ?? ""
            let field = query.split(separator: "&").first { $0.hasPrefix("\(name)=") }
            return field.flatMap { Int($0.dropFirst(name.count + 1)) } ?? fallback
        }
        let all = script.messages[chatID] ?? []
        let start = min(max(number("cursor", 0), 0), all.count)
        let end = min(start + min(max(number("limit", 50), 1), 200), all.count)
        return json(
            CompanionMessagesPageResponse(
                chatId: chatID,
                messages: Array(all[start..<end]),
                nextCursor: end < all.count ? "\(end)" : nil
            )
        )
    }

    private mutating func proceed(_ chatID: String, _ body: Data, host: FakeMacState) -> [FakeMacAction] {
        let fields = try? JSONDecoder().decode(ContinueFields.self, from: body)
        guard !chatID.trimmed.isEmpty else { return failure(400, CompanionErrorResponse.Text.missingChatID) }
        guard let prompt = fields?.prompt?.trimmed, !prompt.isEmpty else {
            return failure(400, CompanionErrorResponse.Text.promptRequired)
        }
        let turn: FakeMacTurn =
            if fields?.model == nil {
                // The prompt is stored all the same.
                FakeMacTurn(steps: [.frame(#"{"type":"error","error":"Model is required"}"#), .finish])
            } else if script.turns.isEmpty {
                .answering("You said: \(prompt)")
            } else {
                script.turns.removeFirst()
            }
        if turn.storesPrompt {
            createChat(chatID, prompt: prompt, path: fields?.projectPath ?? "")
            append(.user, prompt, to: chatID)
        }
        if let answer = turn.answer, let reads = turn.storedAtRead {
            delayed.append(FakeMacState.Delayed(chatID: chatID, reads: reads, answer: answer))
        }
        return actions(of: turn, chatID: chatID, host: host)
    }

    private func actions(of turn: FakeMacTurn, chatID: String, host: FakeMacState) -> [FakeMacAction] {
        func bytes(_ frame: String) -> [UInt8] { chunk(Array("data: \(frame)\n\n".utf8), turn) }
        let actions: [FakeMacAction] = turn.steps.flatMap { step -> [FakeMacAction] in
            switch step {
            case .frame(let json): return [.send(bytes(json))]
            case .drip(let json): return [.drip(bytes(json))]
            case .raw(let raw): return [.send(chunk(raw, turn))]
            case .hold(let gate): return [.hold(gate)]
            case .end: return [.send(bytes("[DONE]")), endOfBody(turn)]
            case .finish: return [endOfBody(turn)]
            case .eof: return [.close]
            case .reset: return [.reset]
            case .store:
                guard let answer = turn.answer, turn.storedAtRead == nil else { return [] }
                return [.perform { host.store(answer, in: chatID) }]
            }
        }
        guard !turn.resetsBeforeHead else { return [.reset] + actions }
        let framing = turn.isChunked ? "Transfer-Encoding: chunked\r\n" : ""
        let head =
            "HTTP/1.1 200 OK\r\nX-Powered-By: Express\r\nContent-Type: text/event-stream\r\nCache-Control: no-cache\r\n"
            + "Date: \(HTTPDateText.string(from: now))\r\nConnection: keep-alive\r\n\(framing)\r\n"
        return [.send(head)] + actions
    }

    private func endOfBody(_ turn: FakeMacTurn) -> FakeMacAction {
        turn.isChunked ? .send("0\r\n\r\n") : .close
    }

    private func chunk(_ bytes: [UInt8], _ turn: FakeMacTurn) -> [UInt8] {
        guard turn.isChunked else { return bytes }
        return Array("\(String(bytes.count, radix: 16))\r\n".utf8) + bytes + Array("\r\n".utf8)
    }

    /// A prompt to an unknown chat makes it, and lists the catch-all project.
    ///
    /// Titles are cut by UTF-16 units, inside a character too, as JavaScript's `slice` does.
    private mutating func createChat(_ id: String, prompt: String, path: String) {
        guard !script.chats.contains(where: { $0.id == id }) else { return }
        let folded = prompt.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        let units = Array(folded.utf16)
        let title = units.count > 48 ? JSONText.text(units.prefix(45)) + "..." : folded
        let projectID = String(Digest.sha1(path).prefix(16))
        script.chats.insert(
            CompanionChat(id: id, projectId: projectID, title: title, lastUpdatedAt: now),
            at: 0
        )
        if !script.projects.contains(where: { $0.id == projectID }) {
            let name = path.split(separator: "/").last.map(String.init) ?? ""
            let project = CompanionProject(id: projectID, name: name, localPath: path, lastUpdatedAt: now)
            script.projects.insert(project, at: 0)
        }
        if script.listsGeneral, !script.projects.contains(where: { $0.id == "default-project" }) {
            script.projects.append(
                CompanionProject(id: "default-project", name: "General", localPath: "", lastUpdatedAt: now)
            )
        }
    }

    private struct ContinueFields: Decodable {
        var prompt: String?
        var projectPath: String?
        var model: String?
    }
}
