import CompanionWire

/// The checks of `pairtool doctor`, in the order in which they are shown. Scripts can rely on the names.
enum CheckName: String, Encodable, Sendable, CaseIterable {
    case daemon, engine, port, interfaces, firewall, multicast, adverts
    case serviceType = "service-type"
    case host, version
    case signIn = "sign-in"
    case pairing, clock, files, camera, pictures, disk
}

/// The result of a check.
enum Verdict: String, Encodable, Sendable, CaseIterable {
    case ok
    /// Works, with information worth knowing.
    case note
    /// Works, but not as it should or not reliably.
    case warning
    /// Does not work.
    case problem
    /// Could not be checked here, or there was nothing to check.
    case skipped

    /// Whether the verdict makes the command fail.
    var fails: Bool { self == .warning || self == .problem }
}

/// The result of a check: a verdict, the evidence for it, and one piece of advice.
struct Finding: Encodable, Sendable, Hashable {
    var check: CheckName
    /// The interface, host or file that was checked.
    var subject: String?
    var verdict: Verdict
    /// May contain text from a peer; sanitised when shown. Never contains a secret.
    var evidence: String
    var advice: String?

    static func ok(_ check: CheckName, about subject: String? = nil, _ evidence: String) -> Finding {
        Finding(check: check, subject: subject, verdict: .ok, evidence: evidence)
    }

    static func note(
        _ check: CheckName,
        about subject: String? = nil,
        _ evidence: String,
        _ advice: Advice,
        _ values: [String: String] = [:]
    ) -> Finding {
        Finding(check: check, subject: subject, verdict: .note, evidence: evidence, advice: advice.text(values))
    }

    static func warning(
        _ check: CheckName,
        about subject: String? = nil,
        _ evidence: String,
        _ advice: Advice,
        _ values: [String: String] = [:]
    ) -> Finding {
        Finding(check: check, subject: subject, verdict: .warning, evidence: evidence, advice: advice.text(values))
    }

    static func problem(
        _ check: CheckName,
        about subject: String? = nil,
        _ evidence: String,
        _ advice: Advice,
        _ values: [String: String] = [:]
    ) -> Finding {
        Finding(check: check, subject: subject, verdict: .problem, evidence: evidence, advice: advice.text(values))
    }

    static func skipped(
        _ check: CheckName,
        about subject: String? = nil,
        _ evidence: String,
        _ advice: Advice? = nil
    ) -> Finding {
        Finding(check: check, subject: subject, verdict: .skipped, evidence: evidence, advice: advice?.text([:]))
    }

    /// The finding on one line, and the advice on another.
    ///
    /// - Parameters:
    ///   - colour: Whether to colour the verdict.
    ///   - columns: The width of the window. A command at the end of the advice is not wrapped.
    func text(colour: Bool, columns: Int?) -> String {
        let word = Self.padded(verdict.rawValue, to: 8)
        let shown = colour ? "\u{1B}[\(verdict.colour)m\(word)\u{1B}[0m" : word
        let about = TerminalText.line((subject.map { "\($0): " } ?? "") + evidence)
        // Remove the padding that stood for the two words in front.
        let place = word.utf8.count + 14
        let fitted = IndentedText.of(about, first: place, indent: 9, columns: columns, keepsWords: true).dropFirst(
            place
        )
        let line = "\(shown) \(Self.padded(check.rawValue, to: 12)) \(fitted)\n"
        return advice.map { line + "         → \(TerminalText.line($0))\n" } ?? line
    }

    private static func padded(_ word: String, to width: Int) -> String {
        word + String(repeating: " ", count: max(0, width - word.count))
    }
}

extension Verdict {
    /// The SGR parameter (ECMA-48, 8.3.117).
    fileprivate var colour: String {
        switch self {
        case .ok: "32"
        case .note: "36"
        case .warning: "33"
        case .problem: "31"
        case .skipped: "2"
        }
    }
}
