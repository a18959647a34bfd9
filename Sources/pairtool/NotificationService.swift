import DBus

/// The desktop's notifications (freedesktop.org, Desktop Notifications Specification 1.2).
struct NotificationService: Sendable {
    /// A notification that is shown: its number, and the program that shows it.
    struct Shown: Sendable, Hashable {
        var number: UInt32
        /// Only its word counts about the notification: any program on the bus can send a signal.
        var service: String
    }

    enum Event: Sendable, Hashable {
        /// Somebody has chosen an action.
        case chosen(Shown, action: String)
        case closed(Shown)
    }

    private static let name = "org.freedesktop.Notifications"
    private static let path = "/org/freedesktop/Notifications"
    private static let interface = DBusInterface(name, path: path, service: name)

    private let bus: DBusConnection
    private let signals: AsyncStream<DBusMessage>
    private let capabilities: Set<String>

    /// Whether notifications can have buttons.
    var hasActions: Bool { capabilities.contains("actions") }

    /// Runs `body` with the service of the user's desktop.
    ///
    /// - Throws: ``DBusError`` if there is no bus, or nothing on it that shows notifications.
    static func with<R>(
        environment: [String: String],
        isolation: isolated (any Actor)? = #isolation,
        _ body: (NotificationService) async throws -> R
    ) async throws -> R {
        guard let address = DBusAddress.session(environment: environment) else {
            throw DBusError(
                name: "org.freedesktop.DBus.Error.NotSupported",
                "there is no desktop's message bus here"
            )
        }
        return try await DBusConnection.with(address) { bus in
            let signals = try await bus.signals(of: name, from: name, path: path)
            guard let capabilities = try await bus.call("GetCapabilities", of: interface).values.first?.strings else {
                throw DBusError.wrongReply("\(name) does not say what it can do")
            }
            return try await body(NotificationService(bus: bus, signals: signals, capabilities: Set(capabilities)))
        }
    }

    /// Shows a notification.
    ///
    /// - Parameters:
    ///   - title: Sanitised here, as is the body: both may hold text of peers.
    ///   - actions: Words for the program and for people; left out where the service has no buttons.
    ///   - isUrgent: Whether it stays until somebody has seen it.
    func show(
        title: String,
        body: String,
        actions: [(action: String, label: String)] = [],
        isUrgent: Bool = false
    ) async throws -> Shown {
        let reply = try await bus.call(
            "Notify",
            of: Self.interface,
            [
                .string("pairtool"), .uint32(0), .string("dialog-question"), .string(TerminalText.line(title)),
                .string(text(body)), .strings(hasActions ? actions.flatMap { [$0.action, $0.label] } : []),
                .dictionary(["urgency": .byte(isUrgent ? 2 : 1), "category": .string("im.received")]), .int32(-1),
            ]
        )
        guard let number = reply.values.first?.uint32, let service = reply.sender else {
            throw DBusError.wrongReply("\(Self.name) gives its notification no number")
        }
        return Shown(number: number, service: service)
    }

    /// Removes a notification. It is not an error if it is already gone.
    func close(_ shown: Shown) async {
        _ = try? await bus.call("CloseNotification", of: Self.interface, [.uint32(shown.number)])
    }

    /// What happens to the notifications, until the bus disconnects.
    var events: some AsyncSequence<Event, Never> & Sendable {
        signals.compactMap { signal in
            guard let service = signal.sender, let number = signal.values.first?.uint32 else { return nil }
            let shown = Shown(number: number, service: service)
            switch (signal.member, signal.values.dropFirst().first) {
            case ("ActionInvoked", .string(let action)): return .chosen(shown, action: action)
            case ("NotificationClosed", _): return .closed(shown)
            default: return nil
            }
        }
    }

    /// The body in the service's own way: some read it as markup, and none may be steered by text of peers.
    private func text(_ body: String) -> String {
        let text = TerminalText.block(body)
        guard capabilities.contains("body-markup") else { return text }
        return Self.escaped(text)
    }

    /// Text that means itself in markup. By scalars, as a reader of markup goes: one that joins with `<` does not hide it.
    static func escaped(_ text: String) -> String {
        text.unicodeScalars.reduce(into: "") { result, scalar in
            switch scalar {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\"": result += "&quot;"
            case "'": result += "&#39;"
            default: result.unicodeScalars.append(scalar)
            }
        }
    }
}
