import FoundationEssentials

/// A field of a form, with the rules that its value has to follow.
package struct FormField: Codable, Sendable, Hashable {
    /// The kind of a value.
    package enum Kind: Sendable {
        case text, number, integer, flag
        /// One of ``FormField/choices``.
        case choice
        /// Any of ``FormField/choices``.
        case choices
        /// A type that this version does not know: its value is a text.
        case unknown
    }

    /// One of the values that a field may have.
    package struct Choice: Codable, Sendable, Hashable {
        /// The text that the agent gets.
        package var value: String
        package var title: String?
        package var description: String?

        package init(_ value: String, title: String? = nil, description: String? = nil) {
            (self.value, self.title, self.description) = (value, title, description)
        }
    }

    /// The name by which an answer gives the value.
    package var name: String
    /// The type of the value in the words of JSON Schema: `string`, `number`, `integer`, `boolean` or `array` (of texts).
    package var type: String
    package var title: String?
    package var description: String?
    package var isRequired: Bool
    /// The value that the form begins with; one that the rules allow.
    package var defaultValue: JSONValue?
    package var choices: [Choice]?
    /// `email`, `uri`, `date` or `date-time`. Other formats are not checked.
    package var format: String?
    /// Limits of a text, in scalars.
    package var minLength: Int?
    package var maxLength: Int?
    /// A regular expression that a text has to match somewhere.
    package var pattern: String?
    /// Limits of a number, which may have them too.
    package var minimum: Double?
    package var maximum: Double?
    /// Limits of how many values an array has.
    package var minItems: Int?
    package var maxItems: Int?

    package init(_ name: String, type: String, isRequired: Bool = false) {
        (self.name, self.type, self.isRequired) = (name, type, isRequired)
    }

    private enum CodingKeys: String, CodingKey {
        case name, type, title, description
        case isRequired = "required"
        case defaultValue = "default"
        case choices, format, minLength, maxLength, pattern, minimum, maximum, minItems, maxItems
    }

    package var kind: Kind {
        switch type {
        case "string": choices == nil ? .text : .choice
        case "number": .number
        case "integer": .integer
        case "boolean": .flag
        case "array": choices == nil ? .unknown : .choices
        default: .unknown
        }
    }

    /// The name for people.
    package var label: String {
        let words = (title ?? "").oneLine(atMost: 200)
        return words.isEmpty ? name.oneLine(atMost: 200) : words
    }
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

extension FormField {
    /// Reads a value that a person typed.
    ///
    /// - Parameter text: A choice is named by its value, its number in the list (from 1) or its title; several are
    ///   separated by commas.
    /// - Returns: The value in the field's type.
    /// - Throws: ``FormFault`` for one that the rules do not allow.
    package func value(typed text: String) throws(FormFault) -> JSONValue {
        switch kind {
        case .text, .unknown: return try checked(.string(text))
        case .number, .integer: return try checked(.string(text.trimmingWhitespace()))
        case .flag:
            let word = text.trimmingWhitespace().lowercased()
            if ["yes", "y", "true"].contains(word) { return .bool(true) }
            if ["no", "n", "false"].contains(word) { return .bool(false) }
            throw fault("has to be yes or no")
        case .choice: return try checked(.string(choice(typed: text)))
        case .choices: return try checked(.array(values(typed: text).map { .string($0) }))
        }
    }

    /// Reads several values that a person gave for one field.
    ///
    /// - Throws: ``FormFault``, also for several where the field takes one.
    package func value(typed texts: [String]) throws(FormFault) -> JSONValue {
        guard kind == .choices else {
            guard texts.count == 1, let text = texts.first else { throw fault("takes one value") }
            return try value(typed: text)
        }
        return try checked(.array(texts.flatMap { values(typed: $0) }.map { .string($0) }))
    }

    private func values(typed text: String) -> [String] {
        // A value may have a comma.
        if choices?.contains(where: { $0.value.isSame(as: text) }) == true { return [text] }
        return text.parts(",").map { choice(typed: String($0)) }
    }

    /// Whether choices can be named by their numbers: not where a value is a number itself.
    private var isNumbered: Bool { choices?.contains { Int($0.value) != nil } != true }

    private func choice(typed text: String) -> String {
        let word = text.trimmingWhitespace()
        let all = choices ?? []
        if let same = all.first(where: { $0.value.isSame(as: text) || $0.value.isSame(as: word) }) { return same.value }
        if isNumbered, let number = Int(word), all.indices.contains(number - 1) { return all[number - 1].value }
        return all.first { $0.title.map { $0.isSame(as: word) } ?? false }?.value ?? word
    }

    /// A value as it would be typed.
    package func typed(_ value: JSONValue) -> String {
        switch value {
        case .bool(let flag): flag ? "yes" : "no"
        case .array(let values): typed(values.compactMap(\.string))
        case .number(let number): Self.text(number)
        default: value.word ?? ""
        }
    }

    private func typed(_ values: [String]) -> String {
        guard isNumbered, choices?.contains(where: { $0.value.has(",") }) == true else {
            return values.joined(separator: ", ")
        }
        // A value with a comma would be two.
        let numbers = values.compactMap { value in choices?.firstIndex { $0.value.isSame(as: value) } }
        return numbers.map { "\($0 + 1)" }.joined(separator: ", ")
    }

    /// A value as people read it: with the titles of choices.
    package func shown(_ value: JSONValue) -> String {
        let names = (value.array ?? [value]).compactMap(\.string).map { text in
            choices?.first { $0.value.isSame(as: text) }?.title?.oneLine(atMost: 200) ?? text
        }
        return choices == nil || names.isEmpty ? typed(value) : names.joined(separator: ", ")
    }

    /// The rules of the field in a few words, such as `whole number, 1 to 10, required`; for people.
    package var rules: String {
        var words: [String] = []
        switch kind {
        case .text: if let format { words.append(format.scalars(atMost: 40)) }
        case .number: words.append("number")
        case .integer: words.append("whole number")
        case .flag: words.append("yes or no")
        case .choice: words.append("one of these")
        case .choices: words.append("any of these, separated by commas")
        case .unknown: words.append(type.scalars(atMost: 40))
        }
        words += [
            Self.range(minLength.map(Double.init), maxLength.map(Double.init), unit: " characters"),
            Self.range(minimum, maximum, unit: ""),
            kind == .choices ? Self.range(minItems.map(Double.init), maxItems.map(Double.init), unit: " values") : "",
            pattern.map { "matches \($0.scalars(atMost: 200))" } ?? "",
            isRequired ? "required" : "optional",
        ].filter { !$0.isEmpty }
        return words.joined(separator: ", ")
    }

    private static func range(_ least: Double?, _ most: Double?, unit: String) -> String {
        switch (least.map(text), most.map(text)) {
        case (nil, nil): ""
        case (let least?, nil): "at least \(least)\(unit)"
        case (nil, let most?): "at most \(most)\(unit)"
        case (let least?, let most?): least == most ? "\(least)\(unit)" : "\(least) to \(most)\(unit)"
        }
    }
}

extension FormField {
    /// The label with the name, where they differ, and the rules.
    package var heading: String {
        "\(label)\(label.isSame(as: name) ? "" : " [\(name.oneLine(atMost: 200))]") (\(rules))"
    }

    /// The choices, each with its number.
    package var choiceLines: [String] {
        (choices ?? []).enumerated().map { index, choice in
            let title = choice.title.flatMap { $0.isSame(as: choice.value) ? nil : $0 }
            let words = [title.map { "\($0) [\(choice.value)]" } ?? choice.value, choice.description].compactMap(\.self)
            return "\(isNumbered ? "\(index + 1))" : "-") \(words.joined(separator: ": "))"
        }
    }
}
