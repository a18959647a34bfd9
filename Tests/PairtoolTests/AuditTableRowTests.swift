import CompanionHost
import CompanionWire
import FoundationEssentials
import HostOwner
import Testing

/// `pairtool host audit` for people.
struct AuditWordsTests {
    private static let paired: JSONValue = [
        "address": "192.168.1.7", "method": "token", "permissions": [], "expiresAt": .null, "version": 2,
    ]
    private static let guest: JSONValue = [
        "address": "192.168.1.7", "method": "code", "permissions": ["chat.send"],
        "expiresAt": "2026-06-01T00:00:00.000Z",
    ]
    private static let question: JSONValue = [
        "question": "9c1f", "chat": "0123456789", "tool": "Write a.py", "kind": "edit", "outcome": "approved",
        "option": "y",
        "by": "Lap",
    ]

    @Test(
        "A row says in words what happened, and leaves out what is empty",
        arguments: [
            (AuditKind.paired, paired, "paired", "QR code; from 192.168.1.7; may read"),
            (.paired, guest, "paired", "six digits; from 192.168.1.7; may read, chat.send; until 2026-0"),
            (
                .pairingFailed, ["address": "fe80::1", "method": "code", "version": 2, "triesLeft": 2], "wrong code",
                "six digits; from fe80::1; tries left: 2"
            ),
            (.pairingLocked, ["failures": 10], "digits locked", "wrong codes in a row: 10"),
            (.permissionsChanged, ["from": ["approve"], "to": []], "permissions", "may read; before: read, approve"),
            (.revoked, ["by": "host"], "revoked", "by you"), (.revoked, ["by": "d1"], "revoked", "by itself"),
            (
                .sessionRemoved, ["chat": "0123456789", "branch": "pairtool/a", "forced": true], "worktree removed",
                "chat 01234567; branch pairtool/a; forced"
            ),
            (
                .questionDecided, question, "question",
                "approved by Lap; Write a.py; edit; answer y; chat 01234567; question 9c1f"
            ),
            (.agentRefused, ["command": "rule.add", "process": 12], "agent refused", "rule.add; process 12"),
            (
                .agentConfigured, ["chat": "0123456789", "setting": "mode", "value": "ask"], "agent set",
                "mode ask; chat 01234567"
            ),
            (.ruleAdded, ["rule": 3, "text": "allow edit", "project": ""], "rule added", "3; allow edit"),
            (AuditKind(rawValue: "later"), ["b": [1], "a": "x"], "later", "a x; b [1]"),
        ] as [(AuditKind, JSONValue, String, String)]
    )
    func words(kind: AuditKind, detail: JSONValue, word: String, text: String) {
        let row = AuditRow(number: 1, at: Date(), kind: kind.rawValue, device: "d1", detail: detail)
        #expect(row.kindText == word)
        #expect(row.detailText.hasPrefix(text), "\(row.detailText)")
    }
}
