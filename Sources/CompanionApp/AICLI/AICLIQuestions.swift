import CompanionClient
import CompanionWire
import PairingAgent

/// Asks the user for what a pairing with an AICLI server needs.
struct AICLIQuestions: Sendable {
    let hostName: String
    let interaction: any Interaction

    private var name: String { TerminalText.line(hostName) }

    /// Asks whether the server's TLS key is the shown one.
    ///
    /// - Throws: ``AppError`` with exit code 13 if it is not, or if there is nobody to ask.
    func confirm(_ shown: CertificateFingerprints) async throws {
        interaction.say(
            """
            \(name) uses a TLS key that pairtool cannot verify. Compare it with what the server prints (trust: legacy).
              SHA-256 fingerprint      \(shown.certificate)
              as the server prints it  \(shown.document)
            """
        )
        guard interaction.canAsk else {
            throw AppError(
                .legacyRefused,
                "pairing.pin_unknown",
                "\(name) was not paired, because its key was not confirmed; nothing was sent",
                next: "compare the key on the host, then: pairtool pair --pin sha256:FINGERPRINT"
            )
        }
        guard try await interaction.confirm("Does the host show the same key?") else {
            throw AppError(.legacyRefused, "pairing.pin_refused", "not paired; nothing was sent")
        }
    }

    /// Asks for the server's token.
    ///
    /// - Throws: ``AppError`` if none is typed, or if there is nobody to ask.
    func token(isRepeated: Bool) async throws -> String {
        guard interaction.canAsk else {
            throw AppError(
                .usage,
                "pairing.no_code",
                "\(hostName) needs a token, and there is no terminal to ask for one",
                next: "give the token: pairtool pair --token-file FILE (- for standard input), or --qr FILE"
            )
        }
        if isRepeated { interaction.say("Wrong token. Try again.") }
        let typed = try await interaction.secret("Token of \(name): ")?.trimmingWhitespace() ?? ""
        guard !typed.isEmpty else {
            throw AppError(.usage, "pairing.no_code", "no token was typed; nothing was kept")
        }
        return typed
    }
}
