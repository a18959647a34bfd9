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
    /// Whether only `pairtool host pair` creates codes.
    private let onDemand: Bool
    /// The served directory, if the user named none; else nil.
    private let directory: String?
    private var challenge: PairingStartResponse?
    private var isAdvertSaid = false
    /// The seconds for which the code has been held back, because the window has no room for the message about the
    /// advertisement below it; nil if it is not held back.
    private var heldSeconds: Int?
    private let dense: Bool
    /// The countdown; nil where none is shown.
    private let countdown: LastLine?
    /// The names of devices by their ids, also of those that are gone.
    private var names: [String: String] = [:]
    /// The titles of the chats that are being answered.
    private var titles: [ByteText: String] = [:]
    /// The size of the window that was too small for the code; nil if the code is shown.
    private var tooSmall: TerminalContext.WindowSize?

    init(
        output: Output,
        name: String,
        lan: Bool,
        picture: QRPicture?,
        showSecrets: Bool,
        dense: Bool,
        onDemand: Bool = false,
        directory: String? = nil
    ) {
        self.output = output
        self.name = name
        self.lan = lan
        self.picture = picture
        self.showSecrets = showSecrets
        self.dense = dense
        self.onDemand = onDemand
        self.directory = directory
        let isSeen = output.format == .text && output.context.stdoutIsTerminal && output.context.stderrIsTerminal
        countdown = isSeen ? LastLine(output.context) : nil
    }

    /// - Parameter devices: Those that are paired.
    func show(_ event: HostEvent, devices: [PairedDevice]) {
        for device in devices { names[device.id] = device.name }
        show(event)
    }

    func show(_ event: HostEvent) {
        if case .challenge(let challenge) = event { take(challenge) }
        if case .challengeEnded = event { challenge = nil }
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
        guard showsCountdown else { return }
        while true {
            tick()
            try await ContinuousClock().sleep(for: .seconds(1))
        }
    }

    /// The work of every second.
    func tick() {
        if let held = heldSeconds, let challenge {
            heldSeconds = held + 1
            // If the discovery engine reports nothing, show the code anyway.
            if held + 1 >= Self.mostHeldSeconds { draw(challenge) } else { drawCountdown() }
        } else if let tooSmall, tooSmall != output.context.windowSize(), let challenge {
            draw(challenge)
        } else {
            drawCountdown()
        }
    }

    /// Clears the countdown and removes the picture of the last code.
    func end() {
        countdown?.end()
        picture?.remove()
        if output.format == .text { output.say("The host has ended.") }
    }

    /// Does the same after an error ended the host, and reports the error.
    ///
    /// - Returns: The exit status of the program.
    func end(after error: any Error) -> ExitStatus {
        countdown?.end()
        let status = output.status(after: error)
        end()
        return status
    }

    private func take(_ challenge: PairingStartResponse) {
        self.challenge = challenge
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
            if onDemand { line("There is no pairing code now. To pair a device: pairtool host pair") }
        case .challenge(let challenge): draw(challenge)
        case .challengeEnded(let reason):
            switch reason {
            case .burnt: line("Three wrong codes: this code is no longer valid. \(nextCode)")
            case .expired: line("The code has expired. \(nextCode)")
            case .used, .replaced: break
            }
        case .wrongCode(let address, let left): line(Self.wrongCode(address: address, left: left))
        case .paired(let device, let address): line("Paired: \(device.name) (\(device.id)) at \(address).")
        case .pairingLocked(let failures):
            line(
                "\(failures) wrong codes in a row: the six digits are locked, the QR code still works. To unlock them: pairtool host unlock"
            )
        case .pairingUnlocked: line("Pairing is unlocked.")
        case .connected(let device, let address): line("Connected: \(device.name) (\(device.id)) at \(address).")
        case .permissionsChanged(let id, let permissions):
            line("Permissions of \(device(id)): \(permissions.isEmpty ? "read" : permissions.joined(separator: ", ")).")
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
                    + "pairtool host approvals show \(question.id.shortID)"
            )
        case .questionEnded(let question): line(ending(of: question))
        case .questionContinued(let notice, let chatID, _):
            line("The agent in chat \(chat(chatID)) goes on after question \(notice.id.shortID).")
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
        case .interrupted: "was cut off by the end of the host"
        case .waiting, .running, .failed: "failed"
        }
    }

    private func ending(of question: Approval) -> String {
        let what = "The question \(question.id.shortID) in chat \(chat(question.chatId))"
        return switch question.state {
        case .interrupted: "\(what) was open when the host ended: the agent that asked is gone."
        case .expired: "\(what) was not answered in time: rejected."
        case .cancelled: "\(what) needs no answer any more."
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

    private var nextCode: String {
        onDemand ? "To make a new one: pairtool host pair" : "A new one follows."
    }

    private static func wrongCode(address: String, left: Int) -> String {
        let tries = left == 0 ? "" : left == 1 ? " (1 try left)" : " (\(left) tries left)"
        return "Someone at \(address) entered a wrong code\(tries). If it was not you, end this host."
    }

    /// How many seconds a code may wait for the message about the advertisement.
    private static let mostHeldSeconds = 3

    private func draw(_ challenge: PairingStartResponse) {
        countdown?.clear()
        let code = PairingCode(challenge: challenge, hasEnd: !showsCountdown, dense: dense)
        if output.context.stdoutIsTerminal {
            // Only the countdown keeps running and notices when the window is resized.
            var ways = (showsCountdown ? "Make the window larger" : "Start the host in a larger window") + code.denseWay
            if picture == nil { ways += ", use --qr-file" }
            var rowsAfter = 1 + rowsOfAdvert
            if rowsAfter > 1, !code.fits(output, rowsAfter: rowsAfter), code.fits(output, rowsAfter: 1) {
                if showsCountdown, heldSeconds ?? 0 < Self.mostHeldSeconds {
                    heldSeconds = heldSeconds ?? 0
                    return drawCountdown()
                }
                rowsAfter = 1
            }
            heldSeconds = nil
            let isDrawn = code.draw(output, rowsAfter: rowsAfter, ways: ways)
            tooSmall = isDrawn ? nil : output.context.windowSize()
        } else if showSecrets {
            output.data(code.text)
        } else {
            // Output that is not a terminal may be a log that others read.
            output.data(
                onDemand
                    ? "There is a pairing code. To show it: pairtool host pair"
                    : picture == nil
                        ? "A pairing code is ready. To print it here: --show-secrets"
                        : "A pairing code is ready. It is in the QR code's file; to print it here too: --show-secrets"
            )
        }
        drawCountdown()
    }

    /// The rows of the message about the advertisement, which appears soon after the first code.
    private var rowsOfAdvert: Int {
        guard !isAdvertSaid, let columns = output.context.windowSize()?.columns else { return 0 }
        return DiscoveryEngineKind.allCases.map {
            DisplayWidth.rows(of: output.fitted(advertised(as: name, by: $0)), columns: columns)
        }.max() ?? 0
    }

    private func advertised(as name: String, by engine: DiscoveryEngineKind) -> String {
        let place = lan ? "" : " on this machine only"
        return TerminalText.line("Advertised as “\(name)”\(place) (\(engine.rawValue) mDNS engine).")
    }

    // MARK: Countdown

    private var showsCountdown: Bool { countdown != nil }

    private func drawCountdown() {
        guard let challenge else { return }
        let left = TimeText.countdown(challenge.expiresAt.timeIntervalSince(output.context.now()))
        countdown?.show("valid for \(left)")
    }

    private func line(_ text: String) {
        countdown?.clear()
        output.data(output.fitted(TerminalText.line(text)))
        drawCountdown()
    }

    /// Reports whether the host is advertised.
    private func report(_ event: String, text: String) {
        isAdvertSaid = true
        if output.format == .json {
            output.json(HostEventRow(event: event, message: text))
        } else if output.format == .text {
            line(text)
            if heldSeconds != nil, let challenge { draw(challenge) }
        }
    }
}
