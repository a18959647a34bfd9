import CompanionWire

/// The keyring of the desktop (org.freedesktop.secrets), read with libsecret's `secret-tool`.
package struct Keyring: Sendable {
    // It may have to be unlocked first, by somebody who types.
    private static let tool = DesktopProgram(
        name: "secret-tool",
        package: "libsecret-tools",
        subject: "the keyring",
        patience: .seconds(120)
    )

    private let environment: [String: String]

    /// - Parameter environment: Names the session bus; the program gets all of it.
    package init(environment: [String: String]) {
        self.environment = environment
    }

    /// The secret that was stored under an attribute.
    ///
    /// - Throws: ``DesktopError`` with the code `noProgram`, `empty` or `failed`; `CancellationError`.
    package func secret(of attribute: (name: String, value: String)) async throws -> String {
        let words = ["lookup", attribute.name, attribute.value]
        let answer = try await Self.tool.run(words, environment: environment, limit: 64 << 10)
        guard answer.isSuccess, !answer.output.isEmpty else {
            if let why = answer.complaint {
                throw DesktopError(.failed, message: "the keyring cannot be read: \(why)")
            }
            throw DesktopError(.empty, message: "the keyring has no secret for \(attribute.name) \(attribute.value)")
        }
        return String(decoding: answer.output, as: UTF8.self)
    }
}
