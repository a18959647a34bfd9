import CompanionWire
import FoundationEssentials
package import Providers

/// Where notifications of a host go: a topic of an ntfy server, or a webhook that takes JSON.
package struct NotifyTarget: Sendable, Hashable {
    /// What the server at the address expects.
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
        let authority = rest.prefix(upTo: rest.firstIndex { "/?".contains($0) } ?? rest.endIndex)
        guard let server = try? ProviderURL("https://\(authority)", provider: .openai) else {
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
            url = "\(isSecure ? "https" : "http")://\(server.authority)/"
        case "https", "http":
            guard server.host != "ntfy.sh" else {
                throw Mistake(message: "for a topic of ntfy, write ntfy://ntfy.sh/TOPIC")
            }
            (isSecure, service, url) = (scheme == "https", .webhook, text)
        default: throw Mistake(message: "it is neither ntfy:// nor https:// nor http://")
        }
        guard isSecure || (try? ProviderURL("http://\(authority)", provider: .openai)) != nil else {
            throw Mistake(message: "plain HTTP is for localhost, private and link-local addresses")
        }
        name = "\(scheme)://\(server.authority)"
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

/// What a host tells, to whom.
package struct NotifySettings: Sendable, Hashable {
    /// How much of a question leaves the machine.
    package enum Detail: String, Sendable, CaseIterable {
        /// That an agent asks, and where.
        case none
        /// Also what it wants to do: the title of its tool call.
        case title
    }

    /// The targets, each once. Default: none.
    package var targets: [NotifyTarget]
    package var detail: Detail
    /// Sent as a bearer token; nil where the servers need none.
    package var token: ProviderKey?
    /// How long a question waits for its answer first, while a device is connected. Default: 10 s.
    package var patience = Duration.seconds(10)
    /// Turns that take at least this long are told when they end. Default: a minute.
    package var longTurn = Duration.seconds(60)
    /// How long the end of the host may be put off, to tell that a question is over. Default: 1 s.
    package var shutdown = Duration.seconds(1)
    /// How long a server may take for its answer. Default: 15 s.
    package var limit = Duration.seconds(15)
    /// The pauses before a message that a server did not take is sent again. Default: 2 s to 2 minutes, four times.
    package var pauses: [Duration] = [.seconds(2), .seconds(10), .seconds(30), .seconds(120)]

    package init(targets: [NotifyTarget] = [], detail: Detail = .none, token: ProviderKey? = nil) {
        (self.targets, self.detail, self.token) = (targets, detail, token)
    }
}
