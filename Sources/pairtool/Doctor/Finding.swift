/// The checks of `pairtool doctor`, in the order in which they are shown. The words are stable, for scripts.
enum CheckName: String, Encodable, Sendable, CaseIterable {
    case daemon, engine, port, interfaces, firewall, multicast, adverts
    case serviceType = "service-type"
    case host, version
    case signIn = "sign-in"
    case pairing, clock, files, camera, pictures, disk
}

/// How a check came out.
enum Verdict: String, Encodable, Sendable, CaseIterable {
    case ok
    /// All is well, and there is something to know.
    case note
    /// It works, but not as it should, or not for sure.
    case warning
    /// It does not work.
    case problem
    /// It could not be looked at here, or there is nothing to look at.
    case skipped

    /// Whether a finding with it is one that is not well.
    var fails: Bool { self == .warning || self == .problem }
}

/// What a check has found: a verdict, what speaks for it, and one thing to do.
struct Finding: Encodable, Sendable, Hashable {
    var check: CheckName
    /// The interface, host or file that it is about.
    var subject: String?
    var verdict: Verdict
    /// May hold text from a peer; it is sanitised when it is shown. Never a secret.
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

    /// A line, and what to do on another.
    ///
    /// - Parameters:
    ///   - colour: Whether the verdict is coloured.
    ///   - columns: How wide the window is. What to do may end in a command, which stays in one piece.
    func text(colour: Bool, columns: Int?) -> String {
        let word = Self.padded(verdict.rawValue, to: 8)
        let shown = colour ? "\u{1B}[\(verdict.colour)m\(word)\u{1B}[0m" : word
        let about = TerminalText.line((subject.map { "\($0): " } ?? "") + evidence)
        // The room of the two words before it is left out again.
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
    /// The parameter of SGR (ECMA-48, 8.3.117).
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
