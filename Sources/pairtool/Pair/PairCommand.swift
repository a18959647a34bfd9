import ArgumentParser
import CompanionApp
import CompanionClient
import CompanionWire
import FoundationEssentials
import Identity
import LocalState
import PairingAgent
import Terminal

struct PairCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pair",
        abstract: "Pair with a host, using its QR code or its six digits.",
        discussion: """
            The code is sent to one host only: the one that the QR code names, the one that you name, or the only \
            one in sight. Without a code source, pairtool asks for the six digits. Hosts of protocol 2 and this machine \
            prove to each other that they know the code, without sending it.

            Examples:
              pairtool pair
              pairtool pair --qr code.png
              pairtool pair --url http://192.168.1.5:7878 --allow-legacy
            """
    )

    @Argument(
        help: "The host, by name or id as `pairtool discover` shows it.",
        completion: .custom { words, _, _ in await Completions.hostsInSight(words) }
    )
    var host: String?

    @Option(
        help: ArgumentHelp("A picture of the host's QR code; - for standard input.", valueName: "file"),
        completion: .file(extensions: ["png", "jpg"])
    )
    var qr: String?

    @OptionGroup(title: "Code sources") var places: CodePlaceOptions

    @Flag(help: "Read the six digits from standard input.")
    var codeStdin = false

    @Option(
        help: ArgumentHelp(
            "A file with the token of an AICLI or Jarvis host; - for standard input.",
            valueName: "file"
        ),
        completion: .file()
    )
    var tokenFile: String?

    @Option(
        help:
            "The host's address, such as http://192.168.1.5:7878 or http://mac.local:7878. With https://, only TLS is used.",
        transform: HostURL.init(commandLine:)
    )
    var url: HostURL?

    @Option(help: "The kind of host at --url. Default: copilotforge.")
    var family: HostFamily?

    @Option(
        help: ArgumentHelp(
            """
            A second base URL of a Jarvis daemon, used if nothing answers at --url: https://HOST[:PORT][/PATH], or http:// \
            with a local address. An empty value removes it.
            """,
            valueName: "url"
        )
    )
    var fallbackURL: String?

    @Option(
        help: ArgumentHelp(
            """
            The TLS key of an AICLI host: sha256: and the fingerprint of its certificate, certificate file or key. \
            Default: pairtool shows the key and asks once.
            """,
            valueName: "fingerprint"
        )
    )
    var pin: CertificatePin?

    @OptionGroup(title: "Pairing options") var pairing: PairingOptions

    @Option(
        help: ArgumentHelp("Look for hosts for at most this long. Default: 10s.", valueName: "time"),
        transform: TimeSpan.init(wait:)
    )
    var timeout = TimeSpan(seconds: 10)

    @OptionGroup(title: "Discovery options") var discovery: DiscoveryOptions
    @OptionGroup var options: OutputOptions

    func validate() throws {
        if places.count + [qr != nil, codeStdin, tokenFile != nil].count(where: \.self) > 1 {
            throw ValidationError(
                "--qr, --watch, --screen, --clipboard, --camera, --frames, --code-stdin and --token-file cannot be used together."
            )
        }
        if family != nil, url == nil { throw ValidationError("--family needs --url.") }
        if host != nil, url != nil { throw ValidationError("Give the host or --url, not both.") }
        if let fallbackMistake { throw ValidationError(fallbackMistake) }
    }

    /// Advice for a code, a picture or an address that is given instead of a host; nil for a name or an id.
    private var hostMistake: String? {
        guard let host else { return nil }
        if PairingPayload.code(typed: host) != nil {
            return
                "Leave out the digits, which others could see on the command line: pairtool asks for them, and --code-stdin "
                + "reads them."
        }
        if host.has("://") { return "To pair by address: pairtool pair --url \(TerminalText.line(host))" }
        if let address = IPAddress(host) {
            let endpoint = CompanionEndpoint(address: address, port: CompanionEndpoint.defaultPort)
            return "To pair by address: pairtool pair --url http://\(endpoint)"
        }
        let endings = [".png", ".jpg", ".jpeg", ".webp", ".heic"]
        guard endings.contains(where: { host.lowercased().ends(with: $0) }) else { return nil }
        return "To read the code in a picture: pairtool pair --qr \(TerminalText.line(host))"
    }

    private var fallbackMistake: String? {
        guard let fallbackURL else { return nil }
        guard (family ?? .usual).behavior.facts.takesSecondURL else {
            return "Hosts of this family have no second base URL: leave out --fallback-url."
        }
        guard !fallbackURL.isEmpty, JarvisBase(fallback: fallbackURL) == nil else { return nil }
        return
            "“\(TerminalText.line(fallbackURL))” is not a base URL. Give https://HOST[:PORT][/PATH], or http:// with a "
            + "local address."
    }

    func run() async throws {
        // Checked here and not in validate(): errors about unknown options come first.
        if let hostMistake { throw ValidationError(hostMistake) }
        let context = options.output.context
        let begin = context.now()
        let given = try await GivenCode(self, output: options.output)
        let readAt = codeStdin ? TypedCode.readAt(asked: begin, typed: context.now()) : context.now()
        do {
            try await pair(given, readAt: readAt)
        } catch {
            throw given.explaining(error, now: context.now())
        }
    }

    private func pair(_ given: GivenCode, readAt: Date) async throws {
        let output = options.output
        let environment = output.environment(discovery.choice)
        let payload = given.payload
        let url = try await url?.resolved(interface: environment.discoveryInterface)
        let device = try PairingDevice(name: pairing.deviceName, environment: environment)
        let chosen = ChosenTarget(
            host: host,
            url: url,
            family: family,
            timeout: timeout.duration,
            environment: environment
        )
        let target = try await chosen.find(for: given)
        let outcome = try await target.family.behavior.pair(
            FamilyPairing(
                target: target,
                known: try PairedHostStore(directory: environment.paths.data).load(),
                device: device,
                permissions: pairing.wanted,
                payload: payload,
                codeReadAt: readAt,
                wasTyped: codeStdin,
                token: given.token,
                pin: pin,
                fallbackURL: fallbackURL,
                consent: LegacyConsent(
                    interaction: environment.interaction,
                    isGiven: pairing.allowLegacy,
                    required: pairing.require,
                    asksForLess: pairing.isLimited
                ),
                findElsewhere: try chosen.elsewhere(than: payload),
                environment: environment
            )
        )
        PairingReport(output: output).show(outcome)
    }
}
