import CompanionWire
import DBus

/// The desktop's notification service (freedesktop.org, Desktop Notifications Specification 1.2).
package struct NotificationService: Sendable {
    /// A visible notification: its number, and the bus name of the service that shows it.
    package struct Shown: Sendable, Hashable {
        var number: UInt32
        /// Only signals from this service count: any program on the bus can send one.
        var service: String
    }

    package enum Event: Sendable, Hashable {
        /// The user chose an action.
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
    package var hasActions: Bool { capabilities.contains("actions") }

    /// Runs `body` with the notification service of the user's desktop.
    ///
    /// - Throws: ``DBusError`` if there is no bus, or no notification service on it.
    package static func with<R>(
        environment: [String: String],
        isolation: isolated (any Actor)? = #isolation,
        _ body: (NotificationService) async throws -> R
    ) async throws -> R {
        guard let address = DBusAddress.session(environment: environment) else {
            throw DBusError(
                name: "org.freedesktop.DBus.Error.NotSupported",
                description: "there is no desktop's message bus here"
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
    ///   - title: Sanitised here, as is the body: both may contain text from peers.
    ///   - actions: Pairs of an identifier and a label; left out if the service does not support buttons.
    ///   - isUrgent: Whether the notification stays until the user closes it.
    package func show(
        title: String,
        body: String,
        actions: [(action: String, label: String)] = [],
        isUrgent: Bool = false
    ) async throws -> Shown {
        let reply = try await bus.call(
            "Notify",
            of: Self.interface,
            with: [
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

    /// Removes a notification. It is not an error if it no longer exists.
    package func close(_ shown: Shown) async {
        _ = try? await bus.call("CloseNotification", of: Self.interface, with: [.uint32(shown.number)])
    }

    /// The events of the notifications, until the bus disconnects.
    package var events: some AsyncSequence<Event, Never> & Sendable {
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

    /// The body, escaped if the service reads it as markup, so that text from peers cannot insert any.
    private func text(_ body: String) -> String {
        let text = TerminalText.block(body)
        guard capabilities.contains("body-markup") else { return text }
        return Self.escaped(text)
    }

    /// Escapes markup. Works on scalars, as a markup parser does: a combining mark that joins with `<` must not hide
    /// it.
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
