import ArgumentParser
import CompanionApp
import CompanionClient
import CompanionWire
import FoundationEssentials
import PairingAgent
import Terminal

struct HostPairCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pair",
        abstract: "Show a new code, so that one more device can pair with the running host.",
        discussion: """
            A host without a terminal, such as a service, creates codes only with this command.

            Examples:
              pairtool host pair
              pairtool host pair --read-only --expires 7d
              pairtool host pair --qr-file ~/code.png
            """
    )

    @Option(
        help: ArgumentHelp("How long the code is valid, 60s to 15m. Default: 5m.", valueName: "time"),
        transform: { try TimeSpan(commandLine: $0, in: 60...900, limits: "60s to 15m") }
    )
    var ttl = TimeSpan(seconds: 300)

    @OptionGroup var grant: GrantOptions

    @Option(
        help: ArgumentHelp(
            "End the device's access this long after it pairs, such as 90s, 30m, 12h or 7d. Default: never.",
            valueName: "time"
        ),
        transform: TimeSpan.init(commandLine:)
    )
    var expires: TimeSpan?

    @Flag(help: "Print the code even if standard output is not a terminal. With --json, print the QR payload too.")
    var showSecrets = false

    @Option(
        help: ArgumentHelp("Also write the QR code to this PNG file (mode 0600). You delete it.", valueName: "file"),
        completion: .file()
    )
    var qrFile: String?

    @OptionGroup var density: DensityOption
    @OptionGroup var options: OutputOptions

    func run() async throws {
        let output = options.output
        // Fail before a code is created if the file cannot be written.
        let picture = try qrFile.map(QRPicture.init)
        let known = try await output.owner.devices()
        let (challenge, areDigitsLocked) = try await output.owner.startPairing(
            ttl: Int(ttl.seconds),
            permissions: grant.permissions,
            lifetime: expires?.seconds
        )
        try picture?.write(challenge.qrPayload)
        switch output.format {
        case .json:
            output.json(HostPairRow(challenge, digitsLocked: areDigitsLocked ? true : nil, showSecrets: showSecrets))
        case .quiet: if showSecrets { output.data(challenge.code) }
        case .text:
            HostPairView(
                output: output,
                code: PairingCode(challenge: challenge, hasEnd: true, dense: density.dense),
                file: qrFile,
                isLimited: grant.permissions != nil || expires != nil,
                showsSecrets: showSecrets
            ).show(until: challenge.expiresAt)
        }
        if areDigitsLocked, output.format != .json {
            output.say(
                "The six digits are locked after too many wrong ones; the QR code works. To unlock them: pairtool host unlock"
            )
        }
        guard output.format == .text, output.context.stdoutIsTerminal, output.context.canAsk else { return }
        try await output.waitForDevice(besides: known, until: challenge.expiresAt)
    }
}

/// A pairing challenge in JSON.
struct HostPairRow: Encodable {
    var code: String?
    var qrPayload: String?
    var expiresAt: Date
    /// true if the host no longer accepts the six digits, after too many wrong ones.
    var digitsLocked: Bool?

    init(_ challenge: PairingStartResponse, digitsLocked: Bool?, showSecrets: Bool) {
        self.digitsLocked = digitsLocked
        code = showSecrets ? challenge.code : nil
        qrPayload = showSecrets ? challenge.qrPayload : nil
        expiresAt = challenge.expiresAt
    }
}

struct HostUnlockCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "unlock",
        abstract: "Accept the six digits again after too many wrong ones.",
        discussion: """
            Ten wrong codes in a row lock the digits. A device can still pair with the QR code.

            Examples:
              pairtool host unlock
              pairtool host unlock --json
            """
    )

    @OptionGroup var options: OutputOptions

    func run() async throws {
        let output = options.output
        let wasLocked = try await output.owner.status().pairingLocked
        let status = try await output.owner.unlockPairing()
        output.result(HostStatusRow(status), id: status.id) {
            guard wasLocked else { return "The digits were not locked. The count of wrong codes starts again." }
            return "The digits are unlocked. "
                + (status.challengeExpiresAt == nil ? "For a code: pairtool host pair" : "The host shows a new code.")
        }
    }
}
