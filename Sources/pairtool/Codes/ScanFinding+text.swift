import CompanionApp
import CompanionWire
import Terminal

extension ScanFinding {
    /// The finding for people.
    var text: String {
        guard kind == .pairing else { return TerminalText.line("\(file): \(description ?? "")") }
        guard !isAICLI else {
            let facts: FactList = ["address": "\(address ?? "") (plain HTTP)", "token": token ?? Self.hidden]
            return TerminalText.line("\(file): AICLI pairing code") + "\n" + facts.text(indent: 2)
        }
        let places = [address].compactMap(\.self) + (otherAddresses ?? [])
        let facts: FactList = [
            "protocol": "\(self.protocol ?? ""), version \(version ?? 1)",
            "code": code ?? Self.hidden,
            "token": token ?? (hasToken == true ? Self.hidden : "none"),
            "host": host.map { $0 + (places.isEmpty ? "" : " at \(places.joined(separator: ", "))") },
            "TLS key": spki.map { "pinned (\($0.prefix(12))…)" } ?? "none: plain HTTP",
            "expires": expiry ?? "unknown",
        ]
        return TerminalText.line("\(file): CopilotForge pairing code") + "\n" + facts.text(indent: 2)
    }

    private static let hidden = "present (--show-secrets shows it)"

    private var expiry: String? {
        guard let expiresAt, let expiresIn else { return nil }
        let span = TimeText.span(Double(expiresIn))
        let left = expired == true ? "expired \(span) ago" : "\(span) left"
        return "\(LocalTime.text(expiresAt)) (\(left), by this machine's clock)"
    }
}
