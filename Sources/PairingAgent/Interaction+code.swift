package import CompanionWire

extension Interaction {
    /// Asks for the six digits that a host shows, until the user types six digits.
    ///
    /// - Throws: ``PairingError`` if the user types nothing.
    package func pairingCode(of hostName: String) async throws -> String {
        let question = "Six digits that \(TerminalText.line(hostName)) shows: "
        var correction = ""
        while true {
            guard let line = try await ask(correction + question), !line.trimmingWhitespace().isEmpty else {
                throw PairingError(.noToken, "no code was typed; nothing was sent")
            }
            if let code = PairingPayload.code(typed: line) { return code }
            correction = "A pairing code has six digits.\n"
        }
    }
}

extension PairingPayload {
    /// The six digits in a line; they may be grouped as hosts show them.
    package static func code(typed line: String) -> String? {
        let digits = line.filter { !$0.isWhitespace && $0 != "-" }
        return isCode(digits) ? digits : nil
    }
}
