/// The key of a provider. Shows in no description.
package struct ProviderKey: Sendable, Hashable {
    /// For the header of a request, and nothing else.
    let value: String

    /// - Returns: nil for what no header can carry: nothing, blanks, control characters, more than 4 KiB.
    package init?(_ text: String) {
        guard !text.isEmpty, text.utf8.count <= 4096, text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            return nil
        }
        value = text
    }

    /// A text of the provider without the key, which it may have repeated.
    func redacted(_ text: String) -> String {
        String(decoding: Array(text.utf8).replacing(Array(value.utf8), with: Array("[key]".utf8)), as: UTF8.self)
    }
}

extension ProviderKey: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    package var description: String { "[key]" }
    package var debugDescription: String { description }
    package var customMirror: Mirror { Mirror(self, children: []) }
}
