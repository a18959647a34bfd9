import CompanionWire

/// What came of one picture after another, and how it is said.
struct ScanReport {
    private let output: Output
    private let showSecrets: Bool
    private var findings: [ScanFinding] = []
    /// The pictures that could not be read, or that show different pairing codes.
    private(set) var failures: [CommandError] = []

    /// - Parameter showSecrets: Whether codes and tokens are shown.
    init(output: Output, showSecrets: Bool) {
        self.output = output
        self.showSecrets = showSecrets
    }

    /// Whether there is a pairing code that can be used.
    var hasPairingCode: Bool { findings.contains { $0.kind == .pairing } }

    /// Takes what the codes of a picture hold.
    mutating func add(_ contents: [QRContent], from place: String) {
        let now = output.context.now()
        findings += contents.map { ScanFinding(file: place, $0, showSecrets: showSecrets, now: now) }
        if let ambiguity = PairingPicture.ambiguity(of: contents, in: PairingPicture.name(place)) {
            failures.append(ambiguity)
        }
    }

    mutating func add(_ failure: CommandError) {
        failures.append(failure)
    }

    /// Shows what was found.
    func showFindings() {
        for finding in findings {
            switch output.format {
            case .json: output.json(finding)
            case .quiet: output.data("\(TerminalText.line(finding.file))\t\(finding.kind.rawValue)")
            case .text: output.data(finding.text)
            }
        }
    }

    /// Shows what was found, and says what was not.
    ///
    /// - Throws: ``CommandError`` if there is no pairing code; ``ExitRequest`` if it is not all that was asked
    ///   for.
    func finish() throws {
        showFindings()
        // One picture that cannot be read does not hide what the others hold.
        for failure in failures.dropLast(hasPairingCode ? 0 : 1) { output.report(failure) }
        if !hasPairingCode, let failure = failures.last { throw failure }
        guard hasPairingCode else { throw notOurs() }
        if let failure = failures.first { throw ExitRequest(status: failure.status) }
    }

    private func notOurs() -> CommandError {
        let what = findings.compactMap(\.description).joined(separator: "; ")
        return CommandError(
            .nothingFound,
            "scan.not_a_pairing_code",
            "there is no usable pairing code: \(what)",
            next: "take a picture of the pairing code that the host shows"
        )
    }
}
