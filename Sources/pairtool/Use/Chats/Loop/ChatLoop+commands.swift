import CompanionApp
import CompanionClient
import CompanionHost
import CompanionWire
import FoundationEssentials
import LocalState
import Markdown
import NIOConcurrencyHelpers
import PairingAgent
import Terminal

extension ChatLoop {
    /// The next step after a command.
    enum Step {
        /// The user types the next prompt; a given text is there for them to change.
        case next(String? = nil)
        case quit
    }

    mutating func obey(_ command: String) async throws -> Step {
        let words = command.parts(" ", maxSplits: 1).map(String.init)
        let argument = words.count > 1 ? words[1].trimmingWhitespace() : nil
        switch words[0] {
        case "/quit", "/exit": return .quit
        case "/help": output.say(ChatWords.help, indent: ChatWords.helpIndent)
        case "/new": try await begin(in: argument)
        case "/chats": try await chats(argument)
        case "/history":
            let count = argument.flatMap(Int.init).map { max(1, $0) } ?? 20
            let (conversation, prompts, output) = (conversation, prompts, output)
            _ = try await run("Stopped.") {
                try await Self.showHistory(count, of: conversation, on: output, prompts: prompts)
            }
        case "/model", "/agent": try await chooseModel(argument)
        case "/allow": allow(argument)
        case "/auto": choose(argument)
        case "/image": try await attach(argument)
        case "/edit":
            let prompts = prompts
            let text = argument ?? ""
            return .next(try await run("Stopped.") { try await prompts.edit(text) }.value ?? argument)
        case "/retry": try await retry()
        case "/copy": try await copy(argument)
        case "/save": try await save(argument)
        case "/cancel":
            let conversation = conversation
            _ = try await run("Stopped.") { try await conversation.cancelTurn() }
        default:
            let near = NearestWord.of(words[0], in: ChatWords.commands).map { " Did you mean \($0)?" } ?? ""
            output.say("There is no command \(words[0]).\(near) /help lists the commands; // begins a prompt.")
            return .next(command)
        }
        return .next()
    }

    // MARK: Chats

    /// Begins another chat.
    private mutating func begin(in project: String?) async throws {
        try await open(nil, project: project ?? conversation.projectPath)
    }

    /// Goes on in another chat: with the pictures for the next prompt, but without the tools that were allowed in this
    /// one.
    private mutating func open(_ word: String?, project: String? = nil, model: String? = nil) async throws {
        let (before, tools) = (conversation, commandLineTools)
        let next = try await run("Stopped.") {
            try await Conversation.open(
                word,
                project: project,
                in: before.session,
                view: before.view,
                model: model,
                usual: before.model,
                allowedTools: tools,
                deniesQuestions: before.deniesQuestions
            )
        }
        guard let next = next.value else { return }
        next.sayToolHints()
        (conversation, allowedOnce) = (next, [])
        conversation.images = before.images
        sayTitle()
        if !conversation.images.isEmpty { sayPictures() }
    }

    /// Lists the chats, or continues one.
    private mutating func chats(_ word: String?) async throws {
        let session = session
        guard let word else {
            let all = try await run("Stopped.") {
                try await session.chats(in: try await session.projects.mergedProjects())
            }
            guard let all = all.value else { return }
            self.listed = all
            return output.say(list(all))
        }
        let number = Int(word).flatMap { listed.indices.contains($0 - 1) ? $0 - 1 : nil }
        try await open(number.map { listed[$0].chat.id } ?? word)
    }

    private func list(_ chats: [ChatInProject]) -> String {
        guard !chats.isEmpty else { return "There is no chat yet." }
        let now = output.context.now()
        let shown = chats.prefix(20).enumerated().map { index, item in
            let mark = item.chat.id.isSame(as: conversation.chatID) ? "*" : " "
            let number = String(index + 1)
            let title = TerminalText.line(item.chat.title)
            let mode = item.chat.mode.map { ", " + TerminalText.line($0.text) } ?? ""
            let facts = "\(TimeText.ago(item.chat.lastUpdatedAt, now: now)), \(item.chat.id.shortID)\(mode)"
            return "\(mark)\(String(repeating: " ", count: 3 - number.utf8.count))\(number)  \(title) (\(facts))"
        }
        let more = chats.count > 20 ? ["    … and \(chats.count - 20) more: pairtool chats"] : []
        return (shown + more + ["Continue one: /chats NUMBER"]).joined(separator: "\n")
    }

    static func showHistory(
        _ count: Int,
        of conversation: Conversation,
        on output: Output,
        prompts: any PromptReader
    ) async throws {
        guard !conversation.chatID.isEmpty else { return output.say("This chat has no messages yet.") }
        let writer = MessageWriter(output: output)
        for message in try await conversation.session.chats.lastMessages(chatID: conversation.chatID, count: count) {
            writer.write(message)
            if message.role == .user { await prompts.remember(message.text, isKept: false) }
        }
    }

    // MARK: Models, tools and pictures

    private mutating func chooseModel(_ name: String?) async throws {
        let session = session
        if let name {
            let before = conversation
            let chosen = try await run("Stopped.") {
                let model = try await session.model(name)
                return (model: model, isOther: try await before.needsNewChat(for: model))
            }
            guard let chosen = chosen.value else { return }
            guard !chosen.isOther else {
                output.say("A chat stays with its agent: this is a new one.")
                return try await open(nil, project: conversation.projectPath, model: chosen.model)
            }
            conversation.model = chosen.model
        }
        output.say("model \(conversation.model ?? "chosen by the host")")
        guard name == nil, let offered = session.offer.models else { return }
        guard let models = try await run("Stopped.", { try await offered.models() }).value else { return }
        output.say("The host has: \(models.map(\.id).joined(separator: ", "))")
    }

    /// Lists the tools, or allows one.
    private mutating func allow(_ words: String?) {
        let parts = (words ?? "").parts(" ").map(String.init)
        guard let tool = parts.first else { return output.say(tools) }
        let scope = parts.count > 1 ? parts[1] : "always"
        guard parts.count <= 2, ChatWords.scopes.contains(where: { scope.isSame(as: $0) }) else {
            return output.say("Usage: /allow TOOL [once|always|off]")
        }
        guard let allowed = conversation.allowedTools else {
            return output.say("All tools are allowed (--allow-all-tools).")
        }
        let known = knownTools
        let isKnown = known.isEmpty || known.contains { $0.isSame(as: tool) }
        if !isKnown, scope != "off", let near = NearestWord.of(tool, in: known) {
            return output.say(TerminalText.line("No tool of this chat is called \(tool). Did you mean \(near)?"))
        }
        let others = allowed.filter { !$0.isSame(as: tool) }
        allowedOnce.removeAll { $0.isSame(as: tool) }
        switch scope {
        case "once":
            allowedOnce.append(tool)
            output.say("\(tool) is allowed for the next prompt.")
        case "off":
            conversation.allowedTools = others
            output.say("\(tool) is not allowed.")
        default:
            conversation.allowedTools = others + [tool]
            output.say("\(tool) is allowed in this chat from now on.")
        }
        completer.tools(knownTools)
    }

    /// The tools that were used in this chat, or that are allowed.
    var knownTools: [String] {
        let known = conversation.toolsSeen + (conversation.allowedTools ?? []) + allowedOnce
        return known.map(ByteText.init).unique.map(\.text)
    }

    /// The tools that are known, and which of them are allowed.
    private var tools: String {
        if conversation.model == BuiltinAgent.modelID {
            return "The built-in agent's tools only read, and need no permission."
        }
        guard let allowed = conversation.allowedTools else { return "All tools are allowed (--allow-all-tools)." }
        let known = knownTools
        guard !known.isEmpty else {
            return "No tools are allowed, and none was used in this chat yet. To allow one: /allow TOOL"
        }
        let lines = known.map { tool in
            let state =
                allowed.contains { $0.isSame(as: tool) }
                ? "allowed"
                : allowedOnce.contains { $0.isSame(as: tool) } ? "allowed for the next prompt" : "not allowed"
            return "\(TerminalText.line(tool)): \(state)"
        }
        return lines.joined(separator: "\n")
    }

    /// Adds a picture to the next prompt: of a file, or without one the picture in the clipboard.
    private mutating func attach(_ path: String?) async throws {
        let (before, environment) = (conversation, session.environment)
        let picture = try await run("Stopped.") {
            try await before.checkTakesImages()
            guard let path else { return try await PromptPicture.pasted(in: environment) }
            return try await PromptPicture.read(path, in: environment)
        }
        guard let picture = picture.value else { return }
        conversation.images.append(picture)
        sayPictures()
    }

    private func sayPictures() {
        let count = conversation.images.count
        output.say("\(count) \(count == 1 ? "picture goes" : "pictures go") with the next prompt.")
    }

    // MARK: Answers

    /// Copies the last answer, or a code block of it, to the terminal's clipboard.
    private mutating func copy(_ number: String?) async throws {
        let conversation = conversation
        guard let answer = try await run("Stopped.", { try await conversation.newestAnswer() }).value else { return }
        guard let answer else { return output.say("There is no answer to copy yet.") }
        var text = answer
        if let number {
            let blocks = try await BlockingCall.run { MarkdownStream.codeBlocks(of: answer) }
            guard let index = Int(number), blocks.indices.contains(index - 1) else {
                return output.say(
                    blocks.isEmpty
                        ? "The last answer has no code block."
                        : "The last answer has \(blocks.count) code \(blocks.count == 1 ? "block" : "blocks")."
                )
            }
            text = blocks[index - 1]
        }
        output.say(TerminalClipboard(context: output.context).copy(text))
    }

    /// Saves the chat in a file.
    private mutating func save(_ name: String?) async throws {
        guard let name else { return output.say("Usage: /save FILE") }
        guard !conversation.chatID.isEmpty else { return output.say("This chat has no messages yet.") }
        let path = HomePath.expanded(name, output.context.environment)
        if FileStatus(path) != nil, !(try await confirms("\(TerminalText.line(path)) exists. Replace it?")) { return }
        let conversation = conversation
        let saved = try await run("Stopped; nothing was saved.") {
            let text = try await ChatDocument.markdown(of: conversation)
            let outcome = try await BlockingCall.run {
                try Array(text.utf8).withUnsafeBytes { try OutputFile.write($0, to: path) }
            }
            return (text.utf8.count, outcome)
        }
        guard let (bytes, outcome) = saved.value else { return }
        switch outcome {
        case .replaced: output.say("Saved \(bytes) bytes in \(path), which only you can read.")
        case .writtenThrough: output.say("Wrote \(bytes) bytes to \(path).")
        }
    }
}

// MARK: Auto mode

extension ChatLoop {
    /// Sends the follow-up prompts of auto mode until the mode is done. The first Ctrl-C lets the running answer finish
    /// and sends no further prompt.
    ///
    /// - Parameter begin: When the user's prompt was sent. The mode's time limit counts from then.
    mutating func goOn(since begin: Date) async throws {
        guard var auto else { return }
        let output = output
        auto.begin()
        let wantsStop = NIOLockedValueBox(false)
        while true {
            if wantsStop.withLockedValue(\.self) { auto.stop() }
            let elapsed = Duration.seconds(max(0, output.context.now().timeIntervalSince(begin)))
            switch auto.answered(conversation.lastAnswer, elapsed: elapsed) {
            case .stop(let reason):
                output.say("Auto mode ended: \(reason).")
                return
            case .send(let prompt):
                output.say("› \(prompt) (auto mode, \(auto.sent) of at most \(auto.mostMessages); Ctrl-C stops it)")
                let before = conversation
                let outcome = try await run(stoppedWaiting) {
                    let isFirst = wantsStop.withLockedValue { wants in
                        defer { wants = true }
                        return !wants
                    }
                    if isFirst { output.say("Auto mode stops after this answer. Ctrl-C again stops waiting for it.") }
                    return !isFirst
                } _: {
                    var next = before
                    try await next.send(prompt)
                    return next
                }
                guard case .value(let sent) = outcome else {
                    let reason = wantsStop.withLockedValue(\.self) ? AutoResponse.Reason.stopped : .failed
                    output.say("Auto mode ended: \(reason).")
                    return
                }
                conversation = sent
            }
        }
    }

    /// Shows or sets auto mode.
    mutating func choose(_ word: String?) {
        if word == "off" {
            auto = nil
        } else if let word {
            guard let mode = AutoResponse.Mode(rawValue: word) else {
                let modes = AutoResponse.Mode.allCases.map(\.rawValue).joined(separator: ", ")
                output.say("Unknown mode. The modes are: \(modes), off")
                return
            }
            auto = AutoResponse(mode: mode, limits: auto?.limits ?? .init())
        }
        output.say("auto mode: \(auto?.mode.rawValue ?? "off")")
    }
}
