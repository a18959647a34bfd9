import CompanionWire
import Providers

/// A request of the agent for values or for an opened page (`elicitation/create`).
struct ACPForm: Sendable, Hashable {
    /// Which of the open questions it is.
    var key: Int
    var session: String
    /// The id of the tool call that it is about; nil for none.
    var call: String?
    /// The agent's id of a page that is to be opened.
    var linkID: String?
    var question: ProposedForm
    /// The parameters in the agent's words; the fields of a form are pairs in their order.
    var raw: JSONValue

    /// Scalars of a message, a title or a description.
    private static let textLength = 4000
    /// Choices of a field.
    private static let mostChoices = 200
    /// Bytes of a name or a value.
    private static let valueSizes = 1...1000
    /// Bytes of all of it.
    private static let mostBytes = 256 << 10

    /// - Parameter session: The session of the prompt that the request names instead of a session.
    /// - Throws: ``ACPRefusal`` for a request that makes no form.
    init(key: Int, value: JSONValue, session: String) throws(ACPRefusal) {
        guard value.size <= Self.mostBytes else { throw Self.refusal("it has more than \(Self.mostBytes >> 10) KiB") }
        self.key = key
        self.session = session
        raw = value
        call = value["toolCallId"]?.string
        let message = (value["message"]?.string ?? "").scalars(atMost: Self.textLength)
        switch value["mode"]?.string {
        case "form", nil:
            let (form, secret) = try Self.form(value["requestedSchema"] ?? .null)
            question = ProposedForm(message: message, request: .form(form))
            if let secret {
                question.refusal =
                    "The agent asked for a secret (“\(secret.label.oneLine(atMost: 60))”) in a form: declined. Secrets are "
                    + "given to the agent at the host, not over a chat"
            }
        case "url":
            guard let url = value["url"]?.string, let id = value["elicitationId"]?.string,
                (1...ApprovalOption.idSize).contains(id.utf8.count)
            else { throw Self.refusal("url or elicitationId is missing, or elicitationId is too long") }
            linkID = id
            question = ProposedForm(message: message, request: .link(url.scalars(atMost: PageLink.mostBytes)))
            if PageLink(url) == nil {
                question.refusal =
                    "The agent asked to open a page whose address is not a plain https or http URL: declined"
            }
        default: throw Self.refusal("mode is neither form nor url")
        }
    }

    static func refusal(_ message: String) -> ACPRefusal {
        ACPRefusal(code: ACPRefusal.invalidParameters, message: message)
    }

    /// - Returns: The form, and a field of it that wants a secret.
    private static func form(_ schema: JSONValue) throws(ACPRefusal) -> (form: ApprovalForm, secret: FormField?) {
        let required = schema["required"]?.array?.compactMap(\.string) ?? []
        let members = try members(of: schema["properties"] ?? [], required: required)
        let mustHave = Set(required.map { ByteText($0) })
        var fields: [FormField] = []
        var secret: FormField?
        for (name, value) in members {
            guard valueSizes.contains(name.utf8.count), !fields.contains(where: { $0.name == name }) else {
                throw refusal("a property's name is empty, too long or used twice")
            }
            let field = try field(name, value, isRequired: mustHave.contains(ByteText(name)))
            if field.looksSecret || value["writeOnly"]?.bool == true { secret = secret ?? field }
            fields.append(field)
        }
        let form = ApprovalForm(title: text(schema["title"]), description: text(schema["description"]), fields: fields)
        return (form, secret)
    }

    /// The properties in the agent's order; where that is not known, those that are required come first.
    private static func members(
        of properties: JSONValue,
        required: [String]
    ) throws(ACPRefusal) -> [(String, JSONValue)] {
        guard (properties.array?.count ?? properties.object?.count ?? 0) <= ApprovalForm.mostFields else {
            throw refusal("there are more than \(ApprovalForm.mostFields) properties")
        }
        switch properties {
        case .array(let pairs):
            return pairs.compactMap { pair in
                guard let pair = pair.array, pair.count == 2, let name = pair[0].string else { return nil }
                // A field of this name was read as pairs, too.
                return (name, pair[1].objectOfPairs ?? pair[1])
            }
        case .object(let members):
            let first = required.filter { members[$0] != nil }.unique
            let rest = members.keys.filter { !first.contains($0) }.sorted()
            return (first + rest).compactMap { name in members[name].map { (name, $0) } }
        case .null: return []
        default: throw refusal("properties is no object")
        }
    }

    private static func field(_ name: String, _ value: JSONValue, isRequired: Bool) throws(ACPRefusal) -> FormField {
        var field = FormField(name, type: value["type"]?.string ?? "string", isRequired: isRequired)
        (field.title, field.description) = (text(value["title"]), text(value["description"]))
        field.choices = try choices(of: field.type.isSame(as: "array") ? value["items"] ?? .null : value)
        field.format = value["format"]?.string?.scalars(atMost: 100)
        (field.minLength, field.maxLength) = (value["minLength"]?.length, value["maxLength"]?.length)
        field.pattern = value["pattern"]?.string.flatMap { valueSizes.contains($0.utf8.count) ? $0 : nil }
        (field.minimum, field.maximum) = (value["minimum"]?.number, value["maximum"]?.number)
        (field.minItems, field.maxItems) = (value["minItems"]?.length, value["maxItems"]?.length)
        // One that breaks the form's own rules would only have to be typed over.
        field.defaultValue = value["default"].flatMap { $0 == .null ? nil : try? field.checked($0) }
        // Nor can it be typed.
        if let text = field.defaultValue.map(field.typed), TerminalText.isUnsafe(text) { field.defaultValue = nil }
        guard (field.minLength ?? 0) <= min(field.maxLength ?? .max, ApprovalForm.mostBytes),
            (field.minItems ?? 0) <= min(field.maxItems ?? .max, field.choices?.count ?? .max),
            field.minimum ?? -.infinity <= field.maximum ?? .infinity
        else { throw refusal("no value can keep the limits of a property") }
        return field
    }

    /// - Returns: nil for a field whose values are free.
    private static func choices(of value: JSONValue) throws(ACPRefusal) -> [FormField.Choice]? {
        let titled = (value["oneOf"] ?? value["anyOf"])?.array
        guard let all = titled ?? value["enum"]?.array else { return nil }
        let choices = all.compactMap { choice -> FormField.Choice? in
            guard let value = (titled == nil ? choice : choice["const"])?.string,
                value.utf8.count <= valueSizes.upperBound
            else { return nil }
            return FormField.Choice(value, title: text(choice["title"]), description: text(choice["description"]))
        }
        guard choices.count == all.count, (1...mostChoices).contains(choices.count) else {
            throw refusal("a property has no choices, more than \(mostChoices), or one that is no text or too long")
        }
        return choices
    }

    private static func text(_ value: JSONValue?) -> String? {
        value?.string.flatMap { $0.trimmingWhitespace().isEmpty ? nil : $0.scalars(atMost: textLength) }
    }
}

extension JSONValue {
    /// The object that was read as an array of its names and values; nil for anything else.
    fileprivate var objectOfPairs: JSONValue? {
        guard let pairs = array?.map(\.array) else { return nil }
        var members: [String: JSONValue] = [:]
        for pair in pairs {
            guard let pair, pair.count == 2, let name = pair[0].string else { return nil }
            members[name] = pair[1]
        }
        return .object(members)
    }

    /// A number of characters or elements.
    fileprivate var length: Int? { integer.flatMap { $0 >= 0 ? Int(exactly: $0) : nil } }
}

extension FormField {
    /// Words in names of fields that hold secrets, also in the plural.
    private static let secretWords: Set<String> = [
        "password", "passwd", "pwd", "passphrase", "passcode", "passkey", "passwort", "secret", "token", "apikey",
        "credential", "otp", "pin", "cvv", "privatekey", "accesskey", "signingkey", "sshkey", "recoverycode",
        "verificationcode", "securitycode", "facode", "seedphrase",
    ]
    /// The same within longer words, such as `pgpassword`.
    private static let secretParts = [
        "password", "passwd", "passphrase", "secretkey", "clientsecret", "apikey", "authtoken", "accesstoken",
        "refreshtoken", "bearertoken", "privatekey", "accesskey",
    ]

    /// Whether it looks like a field for a secret: by its name or its title, which say `password` or `API key`, or by
    /// its format.
    fileprivate var looksSecret: Bool {
        switch kind {
        case .flag, .choice, .choices: return false
        case .text, .unknown, .number, .integer: break
        }
        if format?.lowercased() == "password" { return true }
        // A count of tokens is none.
        let isCount = kind == .number || kind == .integer
        return [name, title ?? ""].contains { text in
            let words = Self.words(of: text)
            let pairs = zip(words, words.dropFirst()).map { $0 + $1 }
            return (words + pairs).contains { word in
                let single = word.dropping(suffix: "s").map(String.init) ?? word
                if single.isSame(as: "token") { return !isCount && word.isSame(as: single) }
                return Self.secretWords.contains(word) || Self.secretWords.contains(single)
                    || Self.secretParts.contains { word.has($0) }
            }
        }
    }

    /// The words of a text in lower case: `apiKey`, `api_key` and `API key` have the same.
    private static func words(of text: String) -> [String] {
        var words: [String] = []
        var word = ""
        var wasLower = false
        for scalar in text.unicodeScalars {
            let isUpper = scalar.properties.isUppercase
            if !scalar.properties.isAlphabetic || isUpper && wasLower {
                if !word.isEmpty { words.append(word) }
                word = ""
            }
            if scalar.properties.isAlphabetic { word += scalar.properties.lowercaseMapping }
            wasLower = scalar.properties.isLowercase
        }
        return word.isEmpty ? words : words + [word]
    }
}
