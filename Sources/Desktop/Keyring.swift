import CompanionWire
import Subprocess

/// The keyring of the desktop (org.freedesktop.secrets), read with libsecret's `secret-tool`.
package struct Keyring: Sendable {
    /// A keyring may have to be unlocked first, by somebody who types.
    private static let patience = Duration.seconds(120)

    private let environment: [String: String]

    /// - Parameter environment: Names the session bus; the program gets all of it.
    package init(environment: [String: String]) {
        self.environment = environment
    }

    /// The secret that was stored under these attributes.
    ///
    /// - Throws: ``DesktopError`` with the code `noProgram`, `empty` or `failed`; `CancellationError`.
    package func secret(_ attributes: KeyValuePairs<String, String>) async throws -> String {
        var variables: [Environment.Key: String] = [:]
        for (name, value) in environment { variables[Environment.Key(stringLiteral: name)] = value }
        let settings = Environment.custom(variables)
        let words = ["lookup"] + attributes.flatMap { [$0, $1] }
        return try await withThrowingTaskGroup(of: String?.self) { group in
            group.addTask {
                do {
                    let result = try await Subprocess.run(
                        .name("secret-tool"),
                        arguments: Arguments(words),
                        environment: settings,
                        output: .string(limit: 64 << 10),
                        error: .string(limit: 64 << 10)
                    )
                    if let why = result.standardError.parts("\n").first {
                        throw DesktopError(.failed, message: "the keyring cannot be read: \(why)")
                    }
                    guard result.terminationStatus.isSuccess, !result.standardOutput.isEmpty else {
                        throw DesktopError(
                            .empty,
                            message: "the keyring has no secret for \(words.dropFirst().joined(separator: " "))"
                        )
                    }
                    return result.standardOutput
                } catch let error as SubprocessError where error.code == .executableNotFound {
                    throw DesktopError(
                        .noProgram,
                        message: "the program secret-tool is needed to read the keyring",
                        remedy: "sudo apt install libsecret-tools"
                    )
                }
            }
            group.addTask {
                try await ContinuousClock().sleep(for: Self.patience)
                return nil
            }
            defer { group.cancelAll() }
            guard let first = try await group.next(), let secret = first else {
                throw DesktopError(.failed, message: "the keyring did not answer in time")
            }
            return secret
        }
    }
}
