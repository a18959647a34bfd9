import CompanionApp
import CompanionWire
import PairingAgent
import Terminal

/// Collects the results from several pictures and prints them.
struct ScanReport {
    private let output: Output
    private let showSecrets: Bool
    private var findings: [ScanFinding] = []
    /// Pictures that could not be read, or that show different pairing codes.
    private(set) var failures: [AppError] = []

    /// - Parameter showSecrets: Whether codes and tokens are shown.
    init(output: Output, showSecrets: Bool) {
        self.output = output
        self.showSecrets = showSecrets
    }

    /// Whether a usable pairing code was found.
    var hasPairingCode: Bool { findings.contains { $0.kind == .pairing } }

    /// Adds the contents of a picture's codes.
    mutating func add(_ contents: [QRContent], from place: String) {
        let now = output.context.now()
        findings += contents.map { ScanFinding(file: place, content: $0, showSecrets: showSecrets, now: now) }
        if let ambiguity = PairingPicture.ambiguity(of: contents, in: PairingPicture.name(place)) {
            failures.append(ambiguity)
        }
    }

    mutating func add(_ failure: AppError) {
        failures.append(failure)
    }

    func showFindings() {
        for finding in findings {
            switch output.format {
            case .json: output.json(finding)
            case .quiet: output.data("\(TerminalText.line(finding.file))\t\(finding.kind.rawValue)")
            case .text: output.data(finding.text)
            }
        }
    }

    /// Prints the findings, and reports failures.
    ///
    /// - Throws: ``AppError`` if there is no pairing code; ``ExitRequest`` if there is one but a picture failed.
    func finish() throws {
        showFindings()
        // A picture that cannot be read must not hide what the others contain.
        for failure in failures.dropLast(hasPairingCode ? 0 : 1) { output.report(failure) }
        if !hasPairingCode, let failure = failures.last { throw failure }
        guard hasPairingCode else { throw notOurs() }
        if let failure = failures.first { throw ExitRequest(failure.kind) }
    }

    private func notOurs() -> AppError {
        let what = findings.compactMap(\.description).joined(separator: "; ")
        return AppError(
            .nothingFound,
            "scan.not_a_pairing_code",
            "there is no usable pairing code: \(what)",
            next: "take a picture of the pairing code that the host shows"
        )
    }
}
