/// The names of the checks, in the order in which `pairtool doctor` shows them. Scripts can rely on the names.
package enum CheckName: String, Encodable, Sendable, CaseIterable {
    case daemon, engine, port, interfaces, firewall, multicast, adverts
    case serviceType = "service-type"
    case host, route, version
    case signIn = "sign-in"
    case pairing, clock, files, camera, pictures, disk, processes, sandbox
}

/// The outcome of a check.
package enum Verdict: String, Encodable, Sendable, CaseIterable {
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
    package var fails: Bool { self == .warning || self == .problem }
}

/// The result of a check: a verdict, the evidence for it, and one piece of advice.
package struct Finding: Encodable, Sendable, Hashable {
    /// The check that found it.
    package var check: CheckName
    /// The interface, host or file that was checked.
    package var subject: String?
    /// The outcome; `doctor` fails if that of any finding ``Verdict/fails``.
    package var verdict: Verdict
    /// May contain text from a peer; sanitised when shown. Never contains a secret.
    package var evidence: String
    /// The recommendation, with all names filled in; nil if there is none.
    package var advice: String?
    /// The advice before names were filled in; says which fault was found, and names nobody.
    package var template: Advice?

    private enum CodingKeys: CodingKey {
        case check, subject, verdict, evidence, advice
    }

    private init(
        _ check: CheckName,
        about subject: String?,
        verdict: Verdict,
        evidence: String,
        advice: Advice? = nil,
        values: [String: String] = [:]
    ) {
        self.check = check
        self.subject = subject
        self.verdict = verdict
        self.evidence = evidence
        self.advice = advice?.text(values)
        template = advice
    }

    static func ok(_ check: CheckName, about subject: String? = nil, evidence: String) -> Finding {
        Finding(check, about: subject, verdict: .ok, evidence: evidence)
    }

    static func note(
        _ check: CheckName,
        about subject: String? = nil,
        evidence: String,
        advice: Advice,
        values: [String: String] = [:]
    ) -> Finding {
        Finding(check, about: subject, verdict: .note, evidence: evidence, advice: advice, values: values)
    }

    static func warning(
        _ check: CheckName,
        about subject: String? = nil,
        evidence: String,
        advice: Advice,
        values: [String: String] = [:]
    ) -> Finding {
        Finding(check, about: subject, verdict: .warning, evidence: evidence, advice: advice, values: values)
    }

    static func problem(
        _ check: CheckName,
        about subject: String? = nil,
        evidence: String,
        advice: Advice,
        values: [String: String] = [:]
    ) -> Finding {
        Finding(check, about: subject, verdict: .problem, evidence: evidence, advice: advice, values: values)
    }

    static func skipped(
        _ check: CheckName,
        about subject: String? = nil,
        evidence: String,
        advice: Advice? = nil
    ) -> Finding {
        Finding(check, about: subject, verdict: .skipped, evidence: evidence, advice: advice)
    }
}
