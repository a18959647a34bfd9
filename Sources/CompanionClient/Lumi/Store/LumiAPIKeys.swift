import CompanionWire
import FoundationEssentials
package import Providers

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
        for (name, value) in members where name.lowercased().begins(with: Self.prefix) {
            guard let text = value.text, !text.isEmpty else { continue }
            keys[String(name.dropFirst(Self.prefix.count))] = text
        }
    }

    /// Returns the key of a provider; nil if there is none. If several names stand for the provider, the first one in
    /// alphabetical order counts.
    package func key(of provider: Provider) -> String? {
        keys.sorted { $0.key < $1.key }.first { Provider(named: $0.key) == provider }?.value
    }
}

extension LumiAPIKeys: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    package var description: String { "keys of \(keys.count) providers" }
    package var debugDescription: String { description }
    package var customMirror: Mirror { Mirror(self, children: []) }
}
