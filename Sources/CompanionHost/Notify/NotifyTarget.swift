import CompanionWire
import FoundationEssentials
import Providers

/// The destination of a host's notifications: a topic of an ntfy server, or a webhook that takes JSON.
package struct NotifyTarget: Sendable, Hashable {
    /// The form of message that the server expects.
    enum Service: Sendable, Hashable {
        /// JSON as ntfy takes it at its root (docs.ntfy.sh/publish, “Publish as JSON”).
        case ntfy(topic: String, click: String?)
        /// ``NotifyMessage`` in JSON.
        case webhook
    }

    /// Why a text cannot be used as a target.
    package struct Mistake: Error {
        /// A sentence for people. Does not repeat the text, which may hold secrets.
        package var message: String
    }

    let service: Service
    /// The address that is posted to: HTTPS, or plain HTTP on this machine and private networks.
    let url: String
    /// The scheme and the server, for people and logs. Topics and paths are secrets of many services.
    package let name: String
    /// Whether nobody on the way can read what is sent: HTTPS, or a server of this machine.
    package let isConfidential: Bool

    /// - Parameter text: `ntfy://SERVER[:PORT]/TOPIC[?click=URL][&secure=false]`, or an `https://` or `http://` URL.
    package init(_ text: String) throws(Mistake) {
        guard text.utf8.count <= 2048, text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }),
            let parts = URLComponents(string: text), let scheme = parts.scheme?.lowercased(),
            let rest = text.dropping(prefix: scheme + "://", ignoringCase: true)
        else { throw Mistake(message: "it is not a URL such as ntfy://ntfy.sh/TOPIC or https://example.org/hook") }
        guard parts.user == nil, parts.password == nil, parts.fragment == nil else {
            throw Mistake(
                message: "it has a user name, a password or a fragment: give a token with --notify-token-file"
            )
        }
        let end = rest.utf8.firstIndex { "/?".utf8.contains($0) } ?? rest.endIndex
        guard let server = URLAuthority(rest[..<end]) else {
            throw Mistake(message: "it has no usable server name and port")
        }
        let isSecure: Bool
        switch scheme {
        case "ntfy":
            let topic = parts.path.dropping(prefix: "/").map(String.init) ?? ""
            guard Self.isTopic(topic) else {
                throw Mistake(message: "an ntfy topic has 1 to 64 letters, digits, “-” and “_”: ntfy://SERVER/TOPIC")
            }
            let options = try Self.options(parts.queryItems ?? [])
            isSecure = options.isSecure
            service = .ntfy(topic: topic, click: options.click)
            url = "\(isSecure ? "https" : "http")://\(server)/"
        case "https", "http":
            guard server.host != "ntfy.sh" else {
                throw Mistake(message: "for a topic of ntfy, write ntfy://ntfy.sh/TOPIC")
            }
            (isSecure, service, url) = (scheme == "https", .webhook, text)
        default: throw Mistake(message: "it is neither ntfy:// nor https:// nor http://")
        }
        guard isSecure || server.isLocal else {
            throw Mistake(message: "plain HTTP is for localhost, private and link-local addresses")
        }
        name = "\(scheme)://\(server)"
        isConfidential = isSecure || server.isLoopback
    }

    private static func options(_ items: [URLQueryItem]) throws(Mistake) -> (isSecure: Bool, click: String?) {
        var options = (isSecure: true, click: nil as String?)
        for item in items {
            switch (item.name, item.value) {
            case ("secure", "true"), ("secure", "false"): options.isSecure = item.value == "true"
            case ("click", let url?) where url.begins(with: "https://") || url.begins(with: "http://"):
                options.click = url
            default: throw Mistake(message: "an ntfy URL takes click=URL and secure=false only")
            }
        }
        return options
    }

    private static func isTopic(_ text: String) -> Bool {
        (1...64).contains(text.utf8.count)
            && text.utf8.allSatisfy { $0.isASCIILetter || $0.isASCIIDigit || "-_".utf8.contains($0) }
    }
}
