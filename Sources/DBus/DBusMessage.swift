import CDBus

/// An interface of an object that a service has on the bus. The names must be valid (D-Bus specification, Valid Names):
/// libdbus ends the process otherwise.
package struct DBusInterface: Sendable, Hashable {
    /// The bus name of the service, such as `org.freedesktop.Avahi`.
    package let service: String
    let path: String
    let name: String

    /// - Parameters:
    ///   - name: The name of the interface, such as `org.freedesktop.Avahi.Server`.
    ///   - path: The path of the object, such as `/`.
    ///   - service: The bus name of the service.
    package init(_ name: String, path: String, service: String) {
        self.name = name
        self.path = path
        self.service = service
    }

    /// The bus itself.
    static let bus = DBusInterface(
        "org.freedesktop.DBus",
        path: "/org/freedesktop/DBus",
        service: "org.freedesktop.DBus"
    )
}

/// A reply or a signal.
package struct DBusMessage: Sendable, Hashable {
    /// The unique name of who sent it; the bus sees to it that it is right.
    package let sender: String?
    /// The path of the object that sent a signal; nil for replies.
    package let path: String?
    /// The interface of a signal; nil for replies.
    package let interface: String?
    /// The name of a signal; nil for replies.
    package let member: String?
    /// The arguments, in their order. Those of types that are not read are ``DBusValue/other``.
    package let values: [DBusValue]

    init(_ message: OpaquePointer) {
        sender = dbus_message_get_sender(message).map { String(cString: $0) }
        path = dbus_message_get_path(message).map { String(cString: $0) }
        interface = dbus_message_get_interface(message).map { String(cString: $0) }
        member = dbus_message_get_member(message).map { String(cString: $0) }
        values = DBusValue.values(of: message)
    }
}
