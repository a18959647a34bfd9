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
