import CompanionApp
import CompanionHost
import CompanionWire
import Discovery
import FoundationEssentials
import Identity
import PairingAgent
import Terminal

/// Shows the host's events: pairing codes, and devices that pair, connect and leave.
actor HostScreen {
    private let output: Output
    private let name: String
    private let lan: Bool
    private let picture: QRPicture?
    private let showSecrets: Bool
    /// When the host starts codes by itself.
    private let challenges: ChallengePolicy
    /// The served directory, if the user named none; else nil.
    private let directory: String?
    private let dense: Bool
    private var challenge: PairingStartResponse?
    /// Whether there was a code since the start.
    private var hadChallenge = false
    /// The code and what is said of it, at the end of the terminal's output; nil where there is none.
    private let block: LiveBlock?
    /// The code as it is drawn, and the window that it was drawn for.
    private var drawing: (lines: [String], window: TerminalContext.WindowSize?)?
    /// Whether only the QR code is accepted, and what was entered wrongly: shown with the code, as the message above it may
    /// leave a small window at once.
    private var isLocked = false
    private var wrongEntry: String?
    /// The names of devices by their ids, also of those that are gone.
    private var names: [String: String] = [:]
    /// Whether the host makes a new code when one has ended.
    private var nextFollows: Bool
    /// The titles of the chats that are being answered.
    private var titles: [ByteText: String] = [:]

    init(
        output: Output,
        name: String,
        lan: Bool,
        picture: QRPicture?,
        showSecrets: Bool,
        dense: Bool,
        challenges: ChallengePolicy,
        directory: String? = nil
    ) {
        self.output = output
        self.name = name
        self.lan = lan
        self.picture = picture
        self.showSecrets = showSecrets
        self.dense = dense
        self.challenges = challenges
        self.directory = directory
        let isSeen = output.format == .text && output.context.stdoutIsTerminal && output.context.stderrIsTerminal
        block = isSeen ? LiveBlock(output.context) : nil
        nextFollows = challenges.startsNext(devices: [], now: output.context.now())
    }

    /// - Parameter devices: Those that are paired.
    func show(_ event: HostEvent, devices: [PairedDevice]) {
        for device in devices { names[device.id] = device.name }
        nextFollows = challenges.startsNext(devices: devices, now: output.context.now())
        show(event)
    }

    func show(_ event: HostEvent) {
        if case .challenge(let challenge) = event { take(challenge) }
        if case .challengeEnded = event {
            (challenge, drawing) = (nil, nil)
            draw()
        }
        // Only once the host listens: a host that fails to start serves nothing.
        if case .listening = event, let directory {
            output.say("Serving the current directory, \(directory). To serve another: --project DIR")
        }
        if output.format == .json {
            output.json(HostEventRow(event, showSecrets: showSecrets))
        } else if output.format == .text {
            show(text: event)
        }
    }

    func show(_ event: AdvertisementEvent) {
        switch event {
        case .published(let name, let engine):
            report("advertised", text: advertised(as: name, by: engine))
        case .renamed(let old, let new): report("renamed", text: "The name “\(old)” is taken: advertising as “\(new)”.")
        case .interrupted(let error): report("advert_lost", text: "The host is not advertised: \(error). Trying again.")
        case .resumed: report("advert_back", text: "The mDNS engine is back.")
        }
    }

    func showAdvertisingFailed(_ error: any Error) {
        report(
            "advert_failed",
            text: "The host is not advertised: \(error). Companions can still reach it by its address."
        )
    }

    /// Counts down the code's remaining time on a terminal, until it is cancelled.
    func keepTime() async throws {
        guard block != nil else { return }
        while true {
            draw()
            try await ContinuousClock().sleep(for: .seconds(1))
        }
    }

    /// Whether a key that is typed now asks for a code.
    func asksForCode(_ key: UInt8) -> Bool {
        challenge == nil && [UInt8(ascii: "c"), UInt8(ascii: "C")].contains(key)
    }

    /// Whether keys are read.
    nonisolated var takesKeys: Bool {
        block != nil && challenges == .untilPaired && output.context.stdinIsTerminal && output.context.editsLines
    }

    /// Clears the code, and removes the picture of the last one.
    func end() {
        block?.end()
        picture?.remove()
        if output.format == .text { output.say("The host has ended.") }
    }

    /// Does the same after an error ended the host, and reports the error.
    ///
    /// - Returns: The exit status of the program.
    func end(after error: any Error) -> ExitStatus {
        block?.end()
        let status = output.status(after: error)
        end()
        return status
    }

    private func take(_ challenge: PairingStartResponse) {
        (self.challenge, hadChallenge, drawing, wrongEntry) = (challenge, true, nil, nil)
        do {
            try picture?.write(challenge.qrPayload)
        } catch {
            output.warn(AppError(describing: error))
        }
    }

    private func show(text event: HostEvent) {
        switch event {
        case .listening(let port, let tlsPort):
            let place = lan ? "on the network" : "on this machine only (--lan changes that)"
            line("\(name) listens on port \(tlsPort) for HTTPS and \(port) for HTTP, \(place).")
            if block == nil, !nextFollows { line("There is no pairing code now. To pair a device: pairtool host pair") }
        case .challenge(let challenge): show(challenge)
        case .challengeEnded(let reason): showEnd(reason)
        case .wrongCode(let address, let left):
            wrongEntry = "a wrong code was entered\(Self.tries(left))"
            line(Self.wrongCode(address: address, left: left))
        case .paired(let device, let address):
            (isLocked, wrongEntry) = (false, nil)
            line("Paired: \(device.name) (\(device.id)) at \(address).")
        case .pairingLocked(let failures):
            isLocked = true
            line(
                "\(failures) wrong codes in a row: the six digits are locked; the QR code still works. To unlock them: pairtool host unlock"
            )
        case .pairingUnlocked:
            isLocked = false
            line("Pairing is unlocked.")
        case .connected(let device, let address): line("Connected: \(device.name) (\(device.id)) at \(address).")
        case .permissionsChanged(let id, let permissions):
            line("Permissions of \(device(id)): \(permissions.map(CompanionPermission.init(rawValue:)).rights).")
        case .disconnected(let device): line("Disconnected: \(device.name).")
        case .revoked(let id): line("Revoked: \(device(id)).")
        case .projectCreated(let project, let device):
            line("\(self.device(device)) created the project \(project.name).")
        case .chatCreated(let chat, let device):
            line("\(self.device(device)) created the chat \(Self.name(ofChat: chat.id, title: chat.title)).")
        case .quotaReached(let device, let what):
            line("\(device.name) (\(device.id)) has reached its quota of \(what) (--quota).")
        case .turnStarted(let turn):
            titles[ByteText(turn.chatID)] = turn.title
            line("\(device(turn.device)) started a turn in chat \(chat(turn.chatID))\(Self.remark(turn.mode)).")
        case .modeChanged(let chatID, _, let mode): line("Chat \(chat(chatID)): \(mode.text).")
        case .turnFinished(let chatID, _, let state):
            line("The turn in chat \(chat(chatID)) \(Self.ending(of: state)).")
            titles[ByteText(chatID)] = nil
        case .agent(let message, let lines, let log):
            line("\(message).")
            for text in lines { line("  \(text)") }
            if let log, !lines.isEmpty { line("Full log: \(log)") }
        case .questionAsked(let question):
            line(
                "The agent asks in chat \(chat(question.chatId))\(Self.remark(question.mode)): \(question.title). "
                    + "To answer: "
                    + "pairtool host approvals \(question.asksPerson ? "answer" : "show") \(question.id.shortID)"
            )
        case .questionEnded(let question): line(ending(of: question))
        case .questionContinued(let notice, let chatID, _):
            line("The agent in chat \(chat(chatID)) continues after question \(notice.id.shortID).")
        case .notifyFailed(let target, let reason):
            line("Notifications do not reach \(target): \(reason). To try again: pairtool host notify test")
        case .alwaysRefused(let question, let device):
            line(
                "\(device.name) (\(device.id)) tried to answer question \(question.id.shortID) for all later ones too: "
                    + "only you may. To let devices do that: pairtool host --always-by devices"
            )
        }
    }

    private static func remark(_ mode: AgentMode?) -> String { mode.map { " (\($0.text))" } ?? "" }

    private static func ending(of turn: TurnState) -> String {
        switch turn {
        case .finished: "is done"
        case .cancelled: "was cancelled"
        case .interrupted: "was cut off when the host ended"
        case .waiting, .running, .failed: "failed"
        }
    }

    private func ending(of question: Approval) -> String {
        let what = "The question \(question.id.shortID) in chat \(chat(question.chatId))"
        return switch question.state {
        case .interrupted: "\(what) was open when the host ended: the agent that asked is gone."
        case .expired: "\(what) was not answered in time: rejected."
        case .cancelled: "\(what) no longer needs an answer."
        default:
            "\(what) was \(question.state.rawValue)\(question.decidedBy.map { ": \($0)" } ?? "")."
        }
    }

    /// The name and the id of a device.
    private func device(_ id: String) -> String {
        names[id].map { "\($0) (\(id))" } ?? id
    }

    private func chat(_ id: String) -> String {
        Self.name(ofChat: id, title: titles[ByteText(id)] ?? "")
    }

    private static func name(ofChat id: String, title: String) -> String {
        title.isEmpty ? id.shortID : "“\(title)”"
    }

    private func showEnd(_ reason: PairingChallengeEnd) {
        // Without a next code, the line at the end of the terminal's output says how to get one.
        let next = nextFollows ? " A new one follows." : block == nil ? " To make a new one: pairtool host pair" : ""
        switch reason {
        case .burnt: line("Three wrong codes: this code is no longer valid.\(next)")
        // In place of a code that has expired, the terminal shows the next one.
        case .expired: if block == nil || !nextFollows { line("The code has expired.\(next)") }
        case .used, .replaced: break
        }
    }

    private static func wrongCode(address: String, left: Int) -> String {
        "Someone at \(address) entered a wrong code\(tries(left)). If that was not you, end this host."
    }

    private static func tries(_ left: Int) -> String {
        left == 0 ? "" : left == 1 ? " (1 try left)" : " (\(left) tries left)"
    }

    // MARK: The code

    private func show(_ challenge: PairingStartResponse) {
        if block != nil {
            draw()
        } else if output.context.stdoutIsTerminal {
            let ways = "Start the host in a larger window\(code(challenge).denseWay)\(fileWay)"
            code(challenge).draw(output, rowsAfter: 1, ways: ways)
        } else if showSecrets {
            output.data(code(challenge).text)
        } else {
            // Output that is not a terminal may be a log that others read.
            output.data(
                challenges == .onDemand
                    ? "There is a pairing code. To show it: pairtool host pair"
                    : picture == nil
                        ? "A pairing code is ready. To print it here: --show-secrets"
                        : "A pairing code is ready. It is in the QR code's file; to print it here too: --show-secrets"
            )
        }
    }

    private func code(_ challenge: PairingStartResponse) -> PairingCode {
        PairingCode(challenge: challenge, hasEnd: block == nil, dense: dense)
    }

    private var fileWay: String { picture == nil ? ", use --qr-file" : "" }

    /// Draws the end of the terminal's output: the code and the time that it is valid, or how to get one.
    func draw() {
        guard let block else { return }
        guard let challenge else {
            let isOnDemand = challenges == .untilPaired && (hadChallenge || !nextFollows)
            return block.show(isOnDemand ? [keyLine] : [])
        }
        let left = TimeText.countdown(challenge.expiresAt.timeIntervalSince(output.context.now()))
        let warning = isLocked ? "the six digits are locked" : wrongEntry
        block.show(lines(challenge) + ["valid for \(left)" + (warning.map { "; \($0)" } ?? "")])
    }

    private var keyLine: String {
        takesKeys ? "Press c for a pairing code, Ctrl-C to end the host." : "For a pairing code: pairtool host pair"
    }

    /// The lines of the code, drawn again when the window has another size.
    private func lines(_ challenge: PairingStartResponse) -> [String] {
        let window = output.context.windowSize()
        if let drawing, drawing.window == window { return drawing.lines }
        let text = TextBuffer()
        var context = output.context
        (context.stdout, context.stderr, context.drawing) = (text, text, TerminalDrawing())
        let code = code(challenge)
        code.draw(
            Output(context: context, format: output.format),
            // The countdown.
            rowsAfter: 1,
            ways: "Make the window larger\(code.denseWay)\(fileWay)"
        )
        // An empty row above, if there is room for it.
        let lines = [""] + text.text.trimmingWhitespace().parts("\n", omittingEmpty: false).map(String.init)
        drawing = (lines, window)
        return lines
    }

    private func advertised(as name: String, by engine: DiscoveryEngineKind) -> String {
        let place = lan ? "" : " on this machine only"
        return TerminalText.line("Advertised as “\(name)”\(place) (\(engine.rawValue) mDNS engine).")
    }

    private func line(_ text: String) {
        let line = IndentedText.advice(TerminalText.line(text), first: 0, indent: 2, columns: output.context.columns)
        if block == nil { output.data(line) } else { output.context.writeMessage(line + "\n") }
    }

    /// Reports whether the host is advertised.
    private func report(_ event: String, text: String) {
        if output.format == .json {
            output.json(HostEventRow(event: event, message: text))
        } else if output.format == .text {
            line(text)
        }
    }
}
