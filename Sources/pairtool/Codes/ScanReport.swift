import CompanionApp
import CompanionWire
import PairingAgent
import Terminal

/// Collects the results from several pictures and prints them.
struct ScanReport {
    let output: Output
    private let showSecrets: Bool
    private let shown: Shown
    private var codes: [(place: String, code: FoundCode)] = []
    /// Pictures that could not be read, or that show different pairing codes.
    private(set) var failures: [AppError] = []

    /// The part of the codes that is shown.
    enum Shown {
        /// Their purpose. Only pairing codes are wanted.
        case meaning
        /// Their text, whatever it is for.
        case text
        /// Their bytes.
        case bytes
    }

    /// - Parameter showSecrets: Whether codes and tokens are shown.
    init(output: Output, shown: Shown, showSecrets: Bool) {
        self.output = output
        self.shown = shown
        self.showSecrets = showSecrets
    }

    /// Whether a code was found that is wanted: a usable pairing code, or any.
    var hasWantedCode: Bool {
        shown == .meaning ? codes.contains { PairingSymbol($0.code.content) != nil } : !codes.isEmpty
    }

    /// Adds the contents of a picture's codes.
    mutating func add(_ contents: [FoundCode], from place: String) {
        codes += contents.map { (place, $0) }
        guard shown == .meaning else { return }
        if let ambiguity = PairingPicture.ambiguity(of: contents, in: PairingPicture.name(place)) {
            failures.append(ambiguity)
        }
    }

    mutating func add(_ failure: AppError) {
        failures.append(failure)
    }

    private var findings: [ScanFinding] {
        let now = output.context.now()
        // Who asks for the text of a code gets that of a pairing code too.
        return codes.map {
            ScanFinding(file: $0.place, code: $0.code, showSecrets: showSecrets || shown != .meaning, now: now)
        }
    }

    func showFindings() {
        if shown == .bytes { return codes.forEach { $0.code.bytes.withUnsafeBytes(output.context.stdout.write) } }
        if shown == .text, output.format != .json { return codes.forEach { showText($0.code) } }
        for finding in findings {
            switch output.format {
            case .json: output.json(finding)
            case .quiet: output.data("\(TerminalText.line(finding.file))\t\(finding.kind.rawValue)")
            case .text: output.data(finding.text)
            }
        }
    }

    /// Prints what a code says, and a line end: safe for a terminal, as it is for everything else.
    private func showText(_ code: FoundCode) {
        if output.context.stdoutIsTerminal {
            output.data(TerminalText.block(String(decoding: code.bytes, as: UTF8.self)))
        } else {
            (code.bytes + [UInt8(ascii: "\n")]).withUnsafeBytes(output.context.stdout.write)
        }
    }

    /// Prints the findings, and reports failures.
    ///
    /// - Throws: ``AppError`` if there is no code that is wanted; ``ExitRequest`` if there is one but a picture failed.
    func finish() throws {
        showFindings()
        // A picture that cannot be read must not hide what the others contain.
        for failure in failures.dropLast(hasWantedCode ? 0 : 1) { output.report(failure) }
        if !hasWantedCode, let failure = failures.last { throw failure }
        guard hasWantedCode else { throw notOurs() }
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
