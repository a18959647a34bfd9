import FoundationEssentials

/// A form that an agent asks a person to fill in (Agent Client Protocol, elicitation in the mode `form`). All texts are
/// the agent's: sanitise them before they reach a terminal.
package struct ApprovalForm: Codable, Sendable, Hashable {
    /// Fields that a form may have.
    package static let mostFields = 50
    /// Bytes of all values of an answer.
    package static let mostBytes = 64 << 10

    package var title: String?
    package var description: String?
    /// In the agent's order. No two have the same name.
    package var fields: [FormField]

    package init(title: String? = nil, description: String? = nil, fields: [FormField]) {
        (self.title, self.description, self.fields) = (title, description, fields)
    }

    /// The field with a name; nil for none.
    package func field(_ name: String) -> FormField? { fields.first { $0.name.isSame(as: name) } }
}

/// Why a value of a form cannot be taken.
package struct FormFault: Error, Sendable, Hashable, CustomStringConvertible {
    /// The field's name, or what was given for one.
    package var field: String
    /// Such as `is required`.
    package var reason: String

    package init(_ field: String, _ reason: String) {
        (self.field, self.reason) = (field, reason)
    }

    package var description: String { field.isEmpty ? reason : "“\(field.scalars(atMost: 100))” \(reason)" }
}

/// Why an answer to a form cannot be taken.
package struct FormFaults: Error, Sendable, Hashable, CustomStringConvertible {
    /// In the order of the form; not empty.
    package var all: [FormFault]

    package init(_ all: [FormFault]) { self.all = all }

    package var description: String { all.map(\.description).joined(separator: "; ") }
}

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
