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

extension ApprovalForm {
    /// A value as it was typed, with the name of its field.
    package struct Typed: Sendable, Hashable {
        package var name: String
        package var text: String

        package init(name: String, text: String) {
            (self.name, self.text) = (name, text)
        }
    }

    /// Reads values that a person gave. What the form begins with counts unless something else is said.
    ///
    /// - Parameter typed: A name that comes twice has several values.
    /// - Throws: ``FormFaults``.
    package func values(typed: [Typed]) throws(FormFaults) -> [String: JSONValue] {
        var values: [String: JSONValue] = [:]
        for field in fields { values[field.name] = field.defaultValue }
        var faults: [FormFault] = []
        for name in typed.map({ ByteText($0.name) }).unique {
            let texts = typed.filter { ByteText($0.name) == name }.map(\.text)
            do throws(FormFault) {
                values[name.text] = try field(name.text)?.value(typed: texts) ?? .string(texts[0])
            } catch {
                faults.append(error)
                values[name.text] = nil
            }
        }
        do throws(FormFaults) {
            values = try checked(values)
        } catch {
            // What was typed wrongly is not called missing as well.
            let wrong = faults.map(\.field)
            faults += error.all.filter { fault in !wrong.contains { $0.isSame(as: fault.field) } }
        }
        guard faults.isEmpty else { throw FormFaults(faults) }
        return values
    }

    /// The form as text: a paragraph for each field, with its rules and its choices. Ends with a line end.
    package var text: String {
        let heads = [title, description].compactMap(\.self).filter { !$0.trimmingWhitespace().isEmpty }
        let fields = fields.map { field in
            var lines = ["\(field.heading)"]
            if let description = field.description { lines.append("  \(description)") }
            lines += field.choiceLines.map { "  \($0)" }
            if let value = field.defaultValue { lines.append("  default: \(field.typed(value))") }
            return lines.joined(separator: "\n")
        }
        return (heads + fields).joined(separator: "\n\n") + "\n"
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
