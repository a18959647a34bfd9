import CompanionHost
import Testing

/// The addresses of notifications.
struct NotifyTargetTests {
    @Test(
        "A topic or a webhook is a target, and its name keeps the rest to itself",
        arguments: [
            ("ntfy://ntfy.sh/my_Topic-1", "ntfy://ntfy.sh", true),
            ("NTFY://Push.Example.org:8443/t?click=https://example.org/a", "ntfy://push.example.org:8443", true),
            ("ntfy://192.168.1.9/t?secure=false", "ntfy://192.168.1.9", false),
            ("ntfy://localhost:2586/t?secure=false", "ntfy://localhost:2586", true),
            ("https://hooks.example.org/services/T0/B0?x=%41", "https://hooks.example.org", true),
            ("http://127.0.0.1:9/hook", "http://127.0.0.1:9", true), ("http://[::1]:9/", "http://[::1]:9", true),
            ("http://10.0.0.8/hook", "http://10.0.0.8", false),
        ]
    )
    func targets(text: String, name: String, isConfidential: Bool) throws {
        let target = try NotifyTarget(text)
        #expect(target.name == name)
        #expect(target.isConfidential == isConfidential)
    }

    @Test(
        "What is none is refused, with the reason",
        arguments: [
            ("", "not a URL"), ("ntfy.sh/topic", "not a URL"), ("ntfy://ntfy.sh", "1 to 64 letters"),
            ("ntfy://ntfy.sh/a/b", "1 to 64 letters"), ("ntfy://ntfy.sh/a%20b", "1 to 64 letters"),
            ("ntfy://ntfy.sh/t?priority=5", "click=URL and secure=false only"),
            ("ntfy://ntfy.sh/t?secure=false", "plain HTTP is for"), ("http://example.org/hook", "plain HTTP is for"),
            ("http://169.example.org/", "plain HTTP is for"), ("https://u:p@example.org/", "user name"),
            ("https://example.org/#a", "fragment"), ("ftp://example.org/", "neither ntfy:// nor"),
            ("https://exämple.org/", "not a URL"), ("https://", "no usable server name"),
            ("http://127.0.0.1:99999/x", "no usable server name"), ("http://127.0.0.1:0/x", "no usable server name"),
            ("http://127.0.0.1:99999999999999999999/", "no usable server name"),
            ("http://127.0.0.1:/", "no usable server name"),
            ("ntfy://ntfy.sh/t?secure=maybe", "click=URL and secure=false only"),
            ("ntfy://ntfy.sh/t?click=javascript:alert(1)", "click=URL and secure=false only"),
            ("https://ntfy.sh/topic", "write ntfy://ntfy.sh/TOPIC"),
        ]
    )
    func mistakes(text: String, reason: String) {
        do {
            let target = try NotifyTarget(text)
            Issue.record("\(text) is \(target)")
        } catch {
            #expect(error.message.contains(reason), "\(error.message)")
        }
    }
}
