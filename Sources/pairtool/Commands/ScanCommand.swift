import ArgumentParser
import CompanionWire
import FoundationEssentials
import PairingAgent
import QRCodec

struct ScanCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "scan",
        abstract: "Read pairing codes from pictures.",
        discussion: """
            Reads PNG, JPEG, WebP, HEIC, GIF, BMP and PNM files and says what their QR codes hold. With --watch it ends \
            with the first pairing code, with --camera or --frames when two frames show the same one. The code and the \
            token are shown only with --show-secrets. Nothing is sent anywhere.
            """
    )

    @Argument(
        help: "Pictures; - for standard input.",
        completion: .file(extensions: ["png", "jpg", "jpeg", "webp", "heic", "gif", "bmp", "ppm"])
    )
    var files: [String] = []

    @OptionGroup var places: CodePlaceOptions

    @Flag(help: "With --watch: go on after the first pairing code.")
    var keep = false

    @Option(help: "With --watch, --camera or --frames: the most seconds to wait. Default: no limit.")
    var timeout: Seconds?

    @Flag(help: "Show the code and the token.")
    var showSecrets = false

    @OptionGroup var options: OutputOptions

    func validate() throws {
        switch (files.isEmpty, places.count) {
        case (true, 0):
            throw ValidationError("Name a picture, or say --watch DIR, --screen, --clipboard or --camera.")
        case (true, 1), (false, 0): break
        default:
            throw ValidationError(
                "Pictures, --watch, --screen, --clipboard, --camera and --frames exclude each other."
            )
        }
        if keep, places.watch == nil { throw ValidationError("--keep belongs to --watch.") }
        if timeout != nil, places.watch == nil, places.frames.input == nil {
            throw ValidationError("--timeout belongs to --watch, --camera and --frames.")
        }
    }

    func run() async throws {
        let output = options.output
        if let directory = places.watch { return try await watch(directory, output: output) }
        if let input = places.frames.input { return try await look(input, output: output) }
        var findings: [ScanFinding] = []
        var failures: [CommandError] = []
        for place in places.places + files.map(CodePlace.file) {
            do {
                let contents = try await place.read(context: output.context)
                findings += self.findings(contents, in: place.name, output: output)
                if let ambiguity = PairingPicture.ambiguity(of: contents, in: PairingPicture.name(place.name)) {
                    failures.append(ambiguity)
                }
            } catch let error as CommandError {
                failures.append(error)
            }
        }
        findings.forEach { show($0, output: output) }
        let found = findings.contains { $0.kind == .pairing }
        // One picture that cannot be read does not hide what the others hold.
        for failure in failures.dropLast(found ? 0 : 1) { output.report(failure) }
        if !found, let failure = failures.last { throw failure }
        guard found else { throw Self.notOurs(findings) }
        if !failures.isEmpty { throw ExitRequest(status: failures[0].status) }
    }

    private func look(_ input: FrameInput, output: Output) async throws {
        let contents = try await FrameReading(input: input, output: output).contents(within: timeout?.duration)
        let findings = findings(contents, in: input.name, output: output)
        findings.forEach { show($0, output: output) }
        if let ambiguity = PairingPicture.ambiguity(of: contents, in: input.name) { throw ambiguity }
        guard findings.contains(where: { $0.kind == .pairing }) else { throw Self.notOurs(findings) }
    }

    private func watch(_ directory: String, output: Output) async throws {
        let watch = PictureWatch(directory: directory, existing: places.existing, context: output.context)
        let ended: Void? = try await withTimeLimit(timeout?.duration) {
            let announce = { output.say("Watching \(TerminalText.line(directory)). Ctrl-C ends it.") }
            try await watch.run(ready: announce) { sighting in
                switch sighting {
                case .codes(let contents, let place):
                    let findings = findings(contents, in: place, output: output)
                    findings.forEach { show($0, output: output) }
                    if let ambiguity = PairingPicture.ambiguity(of: contents, in: place) {
                        output.warn(ambiguity)
                        return true
                    }
                    return keep || !findings.contains { $0.kind == .pairing }
                case .failure(let error):
                    output.warn(error)
                    return true
                }
            }
        }
        guard ended == nil, !keep else { return }
        throw CommandError(.timedOut, "scan.timed_out", "no pairing code was saved in \(directory) in time")
    }

    private func findings(_ contents: [QRContent], in place: String, output: Output) -> [ScanFinding] {
        contents.map { ScanFinding(file: place, $0, showSecrets: showSecrets, now: output.context.now()) }
    }

    private func show(_ finding: ScanFinding, output: Output) {
        switch output.format {
        case .json: output.json(finding)
        case .quiet: output.data("\(TerminalText.line(finding.file))\t\(finding.kind.rawValue)")
        case .text: output.data(finding.text)
        }
    }

    private static func notOurs(_ findings: [ScanFinding]) -> CommandError {
        let what = findings.compactMap(\.description).joined(separator: "; ")
        return CommandError(
            .nothingFound,
            "scan.not_a_pairing_code",
            "there is no pairing code that can be used: \(what)",
            next: "take the picture of the code that the host shows for pairing"
        )
    }
}

/// What was found in a picture.
struct ScanFinding: Encodable {
    enum Kind: String, Encodable {
        case pairing
        case unusable
        case foreign
    }

    var file: String
    var kind: Kind
    var `protocol`: String?
    /// What a code is that is not ours, or why ours cannot be used.
    var description: String?
    /// The protocol's version: 1 names no host, 2 names one and its key.
    var version: Int?
    /// The id of the host that the code names.
    var host: String?
    /// Where that host listens (for HTTPS; an AICLI server for HTTP), as the code says.
    var address: String?
    /// The pin of that host's TLS key.
    var spki: String?
    var expiresAt: Date?
    /// Seconds that are left; negative once it has expired.
    var expiresIn: Int?
    var expired: Bool?
    var hasCode: Bool?
    var hasToken: Bool?
    var code: String?
    var token: String?

    init(file: String, _ content: QRContent, showSecrets: Bool, now: Date) {
        self.file = file
        switch content {
        case .pairing(let payload):
            kind = .pairing
            self.protocol = PairingPayload.protocolName
            version = payload.version ?? 1
            host = payload.host
            address = payload.addr.map { addr in payload.port.map { "\(addr):\($0)" } ?? addr }
            spki = payload.spki
            expiresAt = payload.expiresAt
            expiresIn = payload.expiresAt.map { Int($0.timeIntervalSince(now).rounded(.down)) }
            expired = payload.expiresAt.map { $0 <= now }
            hasCode = true
            hasToken = payload.token != nil
            if showSecrets {
                code = payload.code
                token = payload.token
            }
        case .aicli(let payload):
            kind = .pairing
            self.protocol = Self.aicliProtocol
            address = "\(payload.endpoint)"
            hasCode = false
            hasToken = true
            if showSecrets { token = payload.token }
        case .unusable(let reason):
            kind = .unusable
            description = "a pairing code that cannot be used: \(reason)"
        case .foreign(let what):
            kind = .foreign
            description = what
        }
    }

    /// What the code of an AICLI server is called, which has no name of its own for it.
    private static let aicliProtocol = "aicli"

    var text: String {
        guard kind == .pairing else { return TerminalText.line("\(file): \(description ?? "")") }
        guard self.protocol != Self.aicliProtocol else {
            return [
                "\(file): AICLI pairing code", "  address   \(address ?? "") (plain HTTP)",
                "  token     \(token ?? "present (--show-secrets shows it)")",
            ].map(TerminalText.line).joined(separator: "\n")
        }
        var lines = [
            "\(file): CopilotForge pairing code",
            "  protocol  \(self.protocol ?? ""), version \(version ?? 1)",
            "  code      \(code ?? "present (--show-secrets shows it)")",
            "  token     \(token ?? (hasToken == true ? "present (--show-secrets shows it)" : "none"))",
        ]
        if let host {
            lines.append("  host      \(host)\(address.map { " at \($0)" } ?? "")")
        }
        lines.append("  TLS key   \(spki.map { "pinned (\($0.prefix(12))…)" } ?? "not named: plain HTTP")")
        if let expiresAt, let expiresIn {
            let left =
                expired == true
                ? "expired \(TimeText.span(Double(expiresIn))) ago" : "\(TimeText.span(Double(expiresIn))) left"
            lines.append("  expires   \(CompanionTimestamp.string(from: expiresAt)) (\(left), by this machine's clock)")
        } else {
            lines.append("  expires   not said")
        }
        return lines.map(TerminalText.line).joined(separator: "\n")
    }
}
