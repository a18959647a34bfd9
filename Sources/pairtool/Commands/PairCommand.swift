import ArgumentParser
import CompanionClient
import CompanionWire
import FoundationEssentials
import PairingAgent

struct PairCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pair",
        abstract: "Pair with a host, from its QR code or its six digits.",
        discussion: """
            The code and token go to one host only: the one that you name, or the only one in sight. Without --qr, the six \
            digits are asked for, without echo.
            """
    )

    @Argument(help: "The host, by name or id as `pairtool discover` shows it.")
    var host: String?

    @Option(
        help: "A picture of the host's QR code; - for standard input.",
        completion: .file(extensions: ["png", "jpg"])
    )
    var qr: String?

    @Flag(help: "Read the six digits from standard input.")
    var codeStdin = false

    @Option(
        help: "The host's address, for example http://192.168.1.5:7878, instead of looking for it.",
        transform: CompanionEndpoint.init(commandLine:)
    )
    var url: CompanionEndpoint?

    @Option(help: "What the host shall list this device as. Default: this machine's name.")
    var name: String?

    @Flag(help: "Accept a host that proves nothing and speaks plain HTTP.")
    var allowLegacy = false

    @Option(help: "The most seconds to look for hosts.")
    var timeout = Seconds(10)

    @OptionGroup var discovery: DiscoveryOptions
    @OptionGroup var options: OutputOptions

    func validate() throws {
        if qr != nil, codeStdin { throw ValidationError("--qr and --code-stdin exclude each other.") }
        if let name { try NameRule.check(name) }
        if host != nil, url != nil { throw ValidationError("Name the host or its --url, not both.") }
    }

    func run() async throws {
        let output = options.output
        let context = output.context
        let store = PairedHostStore(directory: context.paths.data)
        let known = try store.load()
        var payload = try await givenPayload(context)
        let target = try await findTarget(output, expiresAt: payload?.expiresAt)
        try await consent(to: target, known: known, output: output)
        let identity = try SecureKeyStore(directory: context.paths.data).identity()
        let endpoint = try await reachable(target)
        let isTyped = payload == nil
        // Whoever types at a terminal may mistype: three tries, as many as a careful host allows.
        for attempt in 1... {
            let current: PairingPayload
            if let given = payload { current = given } else { current = try await askForCode(target, context: context) }
            payload = nil
            do {
                let outcome = try await pair(current, at: endpoint, identity: identity, context: context)
                return try record(target, endpoint, outcome, identity: identity, store: store, output: output)
            } catch let error as PairingError where error.code == .wrongCode && isTyped && context.canAsk && attempt < 3
            {
                output.say("The host does not know this code. Try again.")
            }
        }
    }

    private func pair(
        _ payload: PairingPayload,
        at endpoint: CompanionEndpoint,
        identity: DeviceIdentity,
        context: CommandContext
    ) async throws -> PairingAgent.Outcome {
        let deviceName = name ?? MachineName.current
        return try await Countdown(context: context, expiresAt: payload.expiresAt).run("Pairing") {
            try await CompanionAPIClient.withClient(
                endpoint: endpoint,
                logger: LoggingSetup.logger("client", context: context)
            ) { client in
                try await PairingAgent(identity: identity, now: context.now)
                    .pair(payload, deviceName: deviceName, over: ClientPairingTransport(client: client))
            }
        }
    }
}

// MARK: What is sent, and to whom

extension PairCommand {
    /// The code that was given with the command; nil when it is to be typed.
    private func givenPayload(_ context: CommandContext) async throws -> PairingPayload? {
        if let qr { return try await PairingPicture.payload(qr, context: context) }
        guard codeStdin || !context.canAsk else { return nil }
        guard codeStdin else {
            throw CommandError(
                .usage,
                "pairing.no_code",
                "there is no code to pair with, and no terminal to ask at",
                next: "give one: pairtool pair --qr FILE, or pairtool pair --code-stdin"
            )
        }
        let input = context.stdin
        let line = try await BlockingCall.run { try input.readLine(echo: true) } ?? ""
        return try Self.payload(typed: line)
    }

    private static func payload(typed line: String) throws -> PairingPayload {
        let code = line.trimmingBlanks()
        guard PairingPayload.isCode(code) else {
            throw CommandError(.usage, "pairing.code_format", "a pairing code is six digits; nothing was sent")
        }
        return PairingPayload(code: code, token: nil, expiresAt: nil)
    }

    private func askForCode(_ target: PairingTarget, context: CommandContext) async throws -> PairingPayload {
        let question = Question(context: context)
        while true {
            let prompt = "Six digits that \(TerminalText.line(target.name)) shows: "
            guard let line = try await question.secret(prompt), !line.trimmingBlanks().isEmpty else {
                throw CommandError(.usage, "pairing.no_code", "no code was typed; nothing was sent")
            }
            if let payload = try? Self.payload(typed: line) { return payload }
            context.stderr.write("A pairing code is six digits.\n")
        }
    }

    private func findTarget(_ output: Output, expiresAt: Date?) async throws -> PairingTarget {
        if let url {
            guard url.address.isLocal else {
                throw CommandError(
                    .usage,
                    "pairing.address_refused",
                    "\(url.address) is not an address on this machine, your network or your VPN; nothing was sent"
                )
            }
            return PairingTarget(endpoint: url)
        }
        return try await PairingTargetFinder(
            output: output,
            client: discovery.client(context: output.context),
            limit: timeout.duration
        ).find(host, expiresAt: expiresAt)
    }

    /// The first address of the target at which a companion host answers; what is asked holds no secret.
    private func reachable(_ target: PairingTarget) async throws -> CompanionEndpoint {
        guard target.endpoints.count > 1 else { return target.endpoints[0] }
        for endpoint in target.endpoints where await Probe.probe(endpoint, family: .copilotforge).state == .up {
            return endpoint
        }
        return target.endpoints[0]
    }

    /// Asks once a host whether plain HTTP will do.
    private func consent(to target: PairingTarget, known: PairedHosts, output: Output) async throws {
        let record = target.record(in: known)
        guard record?.trust != .verified else {
            throw PairingError(
                .verifiedHost,
                "\(target.name) was paired with proof before and now offers plain HTTP: this may not be the same host"
            )
        }
        guard record == nil, !allowLegacy else { return }
        let warning =
            "\(target.name) speaks plain HTTP and proves nothing (trust: legacy): anyone on this network can read what you "
            + "send, see the answers and use the host in your name."
        guard output.context.canAsk else {
            throw CommandError(.legacyRefused, "pairing.legacy_refused", warning, next: "accept it with --allow-legacy")
        }
        output.say(warning)
        guard try await Question(context: output.context).confirm("Pair all the same?") else {
            throw CommandError(.legacyRefused, "pairing.legacy_refused", "not paired; nothing was sent")
        }
    }
}

// MARK: What is kept and shown

extension PairCommand {
    private func record(
        _ target: PairingTarget,
        _ endpoint: CompanionEndpoint,
        _ outcome: PairingAgent.Outcome,
        identity: DeviceIdentity,
        store: PairedHostStore,
        output: Output
    ) throws {
        let now = output.context.now()
        let (host, isDefault) = try store.update { hosts in
            let earlier = target.record(in: hosts)
            let id = earlier?.id ?? target.id
            var name = earlier?.name ?? target.name
            if hosts.hosts.contains(where: { $0.id != id && $0.name == name }) {
                name += " \(id.prefix(4))"
            }
            let host = PairedHost(
                id: id,
                name: name,
                family: .copilotforge,
                trust: .legacy,
                endpoint: endpoint,
                deviceID: identity.deviceID,
                pairedAt: now,
                lastSeenAt: now
            )
            hosts.record(host)
            return (host, hosts.defaultID == host.id)
        }
        output.result(PairedHostRow(host, isDefault: isDefault), id: host.id) {
            TerminalText.line("Paired with \(host.name) at \(endpoint) as “\(outcome.device.name)” (trust: legacy).")
        }
        if let offset = outcome.clockOffset, abs(offset.components.seconds) > 30 {
            let seconds = Int(offset.components.seconds)
            output.say(
                "Its clock is \(TimeText.span(Double(seconds))) \(seconds > 0 ? "ahead of" : "behind") this machine's."
            )
        }
        output.say("Next: pairtool projects")
    }
}

extension CompanionEndpoint {
    /// Reads the value of `--url`.
    ///
    /// - Throws: `ValidationError` that says what is wrong with it.
    init(commandLine text: String) throws {
        guard let endpoint = CompanionEndpoint(text) else {
            throw ValidationError(
                text.lowercased().hasPrefix("https:")
                    ? "Hosts of this protocol speak plain HTTP: write http://."
                    : "“\(TerminalText.line(text))” is no address: give an IP address and, if it is not 7878, a port from 1 to "
                        + "65535, such as 192.168.1.5 or http://192.168.1.5:7878. Names are not looked up, and there is no path."
            )
        }
        self = endpoint
    }
}
