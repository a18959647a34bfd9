import CDBus
import CompanionWire

/// Why a bus, or a service on it, could not be asked.
package struct DBusError: Error, Sendable, CustomStringConvertible {
    /// As D-Bus names its errors, such as `org.freedesktop.DBus.Error.ServiceUnknown`: from libdbus, the bus or the
    /// service. It is text of a peer.
    package var name: String
    /// The error as a sentence for people, without a full stop. It may contain text of a peer.
    package var description: String

    package init(name: String, description: String) {
        self.name = name
        self.description = description
    }

    /// Whether the name ends with one of these words, such as `ServiceUnknown`.
    package func isAny(of words: String...) -> Bool {
        words.contains { name.ends(with: ".\($0)") }
    }

    static let hungUp = DBusError(
        name: "org.freedesktop.DBus.Error.Disconnected",
        description: "the message bus has closed the connection"
    )
    static let noMemory = DBusError(
        name: "org.freedesktop.DBus.Error.NoMemory",
        description: "there is too little memory"
    )

    static let noDescriptor = DBusError(
        name: "org.freedesktop.DBus.Error.LimitsExceeded",
        description: "this process has too many open files"
    )

    static func silence(of whom: String) -> DBusError {
        DBusError(name: "org.freedesktop.DBus.Error.NoReply", description: "\(whom) does not answer")
    }

    /// A reply of a type that the caller did not ask for.
    package static func wrongReply(_ description: String) -> DBusError {
        DBusError(name: "org.freedesktop.DBus.Error.InvalidSignature", description: description)
    }

    /// Copies the error that a function of libdbus reports.
    init(_ error: CDBus.DBusError) {
        name = error.name.map { String(cString: $0) } ?? ""
        description = error.message.map { String(cString: $0) } ?? name
    }
}
