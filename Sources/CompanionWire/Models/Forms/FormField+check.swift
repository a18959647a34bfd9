internal import FoundationEssentials

extension ApprovalForm {
    /// Checks an answer.
    ///
    /// - Parameter values: By the names of the fields. A number may be a text, as signed commands have no fractions.
    /// - Returns: The values as the agent gets them: those that were given, in the types of their fields.
    /// - Throws: ``FormFaults``.
    package func checked(_ values: [String: JSONValue]) throws(FormFaults) -> [String: JSONValue] {
        // First of all: what is too long is not searched.
        guard JSONValue.object(values).json.count <= Self.mostBytes else {
            throw FormFaults([FormFault("", "the answer is over \(Self.mostBytes >> 10) KiB")])
        }
        var faults: [FormFault] = []
        var result: [String: JSONValue] = [:]
        for name in values.keys.sorted() where field(name) == nil {
            faults.append(FormFault(name, "is no field of the form"))
        }
        for field in fields {
            guard let value = values[field.name], value != .null else {
                if field.isRequired { faults.append(FormFault(field.name, "is required")) }
                continue
            }
            do throws(FormFault) {
                result[field.name] = try field.checked(value)
            } catch {
                faults.append(error)
            }
        }
        guard faults.isEmpty else { throw FormFaults(faults) }
        return result
    }
}

/// Why an answer to a form cannot be taken.
package struct FormFaults: Error, Sendable, Hashable, CustomStringConvertible {
    /// In the order of the form; not empty.
    package var all: [FormFault]

    package init(_ all: [FormFault]) { self.all = all }

    package var description: String { all.map(\.description).joined(separator: "; ") }
}

extension FormField {
    /// Checks a value by the field's rules.
    ///
    /// - Returns: The value in the field's type.
    package func checked(_ value: JSONValue) throws(FormFault) -> JSONValue {
        switch kind {
        case .text, .unknown:
            guard let text = value.string else { throw fault("has to be a text") }
            if kind == .text { try check(text) }
        case .choice:
            guard let text = value.string, isChoice(text) else { throw fault("has to be one of \(offered)") }
        case .choices: try checkChoices(value)
        case .flag: guard value.bool != nil else { throw fault("has to be true or false") }
        case .integer:
            guard let whole = value.integer ?? value.string.flatMap({ Int64($0) }) else {
                throw fault("has to be a whole number")
            }
            try check(whole)
            return .integer(whole)
        case .number:
            if let whole = value.integer {
                try check(whole)
                return .integer(whole)
            }
            guard let number = value.number ?? value.string.flatMap(Self.number) else {
                throw fault("has to be a number")
            }
            try check(number)
            return Int64(exactly: number).map { .integer($0) } ?? .number(number)
        }
        return value
    }

    /// - Returns: nil for what JSON has no number for.
    static func number(_ text: String) -> Double? {
        guard text.utf8.allSatisfy({ $0.isASCIIDigit || "+-.eE".utf8.contains($0) }), let number = Double(text),
            number.isFinite
        else { return nil }
        return number
    }

    func fault(_ reason: String) -> FormFault { FormFault(name, reason) }

    private func isChoice(_ value: String) -> Bool {
        choices?.contains { $0.value.isSame(as: value) } ?? false
    }

    /// The values of the choices, to be named in an error.
    private var offered: String {
        let values = choices ?? []
        let shown = values.prefix(20).map { $0.value.scalars(atMost: 60) }.joined(separator: ", ")
        return values.count > 20 ? "\(shown), …" : shown
    }

    private func checkChoices(_ value: JSONValue) throws(FormFault) {
        guard let values = value.array?.map(\.string), values.allSatisfy({ $0.map(isChoice) ?? false }) else {
            throw fault("has to have any of \(offered)")
        }
        guard Set(values.map { ByteText($0 ?? "") }).count == values.count else { throw fault("has a value twice") }
        if let minItems, values.count < minItems { throw fault("needs at least \(minItems) values") }
        if let maxItems, values.count > maxItems { throw fault("takes at most \(maxItems) values") }
    }

    /// Whole numbers beyond 2^53 are not rounded.
    private func check(_ whole: Int64) throws(FormFault) {
        guard let least = Int64(exactly: (minimum ?? 0).rounded(.up)),
            let most = Int64(exactly: (maximum ?? 0).rounded(.down))
        else { return try check(Double(whole)) }
        if minimum != nil, whole < least { throw fault("has to be at least \(least)") }
        if maximum != nil, whole > most { throw fault("has to be at most \(most)") }
    }

    private func check(_ number: Double) throws(FormFault) {
        if let minimum, number < minimum { throw fault("has to be at least \(Self.text(minimum))") }
        if let maximum, number > maximum { throw fault("has to be at most \(Self.text(maximum))") }
    }

    static func text(_ number: Double) -> String { Int64(exactly: number).map { "\($0)" } ?? "\(number)" }

    private func check(_ text: String) throws(FormFault) {
        let length = text.unicodeScalars.count
        if let minLength, length < minLength { throw fault("needs at least \(minLength) characters") }
        if let maxLength, length > maxLength { throw fault("takes at most \(maxLength) characters") }
        if let format, let rule = Self.formats[format] {
            guard TextPattern(rule.pattern)?.search(text) == .found, rule.isGood(text) else {
                throw fault("has to be \(rule.name)")
            }
        }
        // What cannot be found out is left to the agent.
        if let pattern, TextPattern(pattern)?.search(text) == .missing {
            throw fault("has to match the pattern \(pattern.scalars(atMost: 200))")
        }
    }

    private struct Format: Sendable {
        var name: String
        var pattern: String
        var isGood: @Sendable (String) -> Bool = { _ in true }
    }

    private static let formats: [String: Format] = [
        "email": Format(name: "an email address", pattern: #"^[^\s@]+@[^\s@.]+(\.[^\s@.]+)*$"#),
        "uri": Format(
            name: "a URI, such as https://example.com",
            pattern: #"^[A-Za-z][A-Za-z0-9+.-]*:[\x21-\x7E]+$"#
        ),
        "date": Format(name: "a date, such as 2026-01-31", pattern: #"^\d{4}-\d\d-\d\d$"#, isGood: isDate),
        "date-time": Format(
            name: "a date and time, such as 2026-01-31T12:00:00Z",
            pattern:
                #"^\d{4}-\d\d-\d\d[Tt]([01]\d|2[0-3]):[0-5]\d:([0-5]\d|60)(\.\d+)?([Zz]|[+-]([01]\d|2[0-3]):[0-5]\d)$"#,
            isGood: isDate
        ),
    ]

    /// Whether a text that begins like a date names a day that there is.
    private static func isDate(_ text: String) -> Bool {
        let day = text.scalars(atMost: 10)
        // A day too many may be read as one of the next month.
        return CompanionTimestamp.date(from: day + "T00:00:00Z").map {
            CompanionTimestamp.string(from: $0).begins(with: day)
        } ?? false
    }
}
