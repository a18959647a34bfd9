import FoundationEssentials

/// The settings of a Mac's Lumi: flat, with dotted names. Values that may be secrets do not show in any description.
package struct LumiSettings: Decodable, Sendable, Hashable {
    package enum Value: Decodable, Sendable, Hashable {
        case text(String)
        case number(Double)
        case flag(Bool)
        /// A list, an object or null: settings are flat, so it is nothing that is known.
        case other

        package init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if let flag = try? container.decode(Bool.self) {
                self = .flag(flag)
            } else if let number = try? container.decode(Double.self) {
                self = .number(number)
            } else if let text = try? container.decode(String.self) {
                self = .text(text)
            } else {
                self = .other
            }
        }
    }

    package var values: [String: Value]

    package init(from decoder: any Decoder) throws {
        values = try decoder.singleValueContainer().decode([String: Value].self)
    }

    /// Whether a setting's name says that its value is a secret, such as `settings.braveAPIKey`.
    package static func isSecret(_ name: String) -> Bool {
        let name = name.lowercased()
        return ["key", "token", "secret", "password", "credential"].contains { name.contains($0) }
    }
}

extension LumiSettings: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    package var description: String { "\(values.count) settings" }
    package var debugDescription: String { description }
    package var customMirror: Mirror { Mirror(self, children: []) }
}

/// The keys of providers that a Mac gave: `lumiagent.apikey.<provider>`. Shows in no description.
package struct LumiAPIKeys: Decodable, Sendable, Hashable {
    private static let prefix = "lumiagent.apikey."

    /// By provider, as the Mac writes it.
    package var keys: [String: String]

    package init(from decoder: any Decoder) throws {
        struct Lenient: Decodable {
            var text: String?
            init(from decoder: any Decoder) throws { text = try? decoder.singleValueContainer().decode(String.self) }
        }
        let members = try decoder.singleValueContainer().decode([String: Lenient].self)
        keys = [:]
        for (name, value) in members where name.lowercased().hasPrefix(Self.prefix) {
            guard let text = value.text, !text.isEmpty else { continue }
            keys[String(name.dropFirst(Self.prefix.count))] = text
        }
    }
}

extension LumiAPIKeys: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    package var description: String { "keys of \(keys.count) providers" }
    package var debugDescription: String { description }
    package var customMirror: Mirror { Mirror(self, children: []) }
}
