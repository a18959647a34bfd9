import CDBus
import CompanionWire
import FoundationEssentials

/// The address of a message bus (D-Bus specification, Server Addresses).
package struct DBusAddress: Sendable, Hashable, CustomStringConvertible {
    let text: String

    /// Reads a list of addresses, separated by `;`, and keeps those of Unix sockets. Some of the other kinds start
    /// programs.
    ///
    /// - Returns: nil if the text names no Unix socket.
    package init?(_ text: String) {
        let sockets = text.parts(";").filter { $0.begins(with: "unix:") }
        guard !sockets.isEmpty else { return nil }
        self.text = sockets.joined(separator: ";")
    }

    private init(path: String) {
        let escaped = dbus_address_escape_value(path)
        defer { dbus_free(escaped) }
        text = "unix:path=" + (escaped.map { String(cString: $0) } ?? path)
    }

    /// The user's bus: as `DBUS_SESSION_BUS_ADDRESS` says, else where systemd has it. Nil if there is none.
    package static func session(environment: [String: String]) -> DBusAddress? {
        if let address = environment["DBUS_SESSION_BUS_ADDRESS"], !address.isEmpty { return DBusAddress(address) }
        guard let directory = environment["XDG_RUNTIME_DIR"], directory.begins(with: "/"),
            FileManager.default.fileExists(atPath: directory + "/bus")
        else { return nil }
        return DBusAddress(path: directory + "/bus")
    }

    /// The machine's bus: as `DBUS_SYSTEM_BUS_ADDRESS` says, else the usual one.
    package static func system(environment: [String: String]) -> DBusAddress {
        environment["DBUS_SYSTEM_BUS_ADDRESS"].flatMap(DBusAddress.init)
            ?? DBusAddress(path: "/run/dbus/system_bus_socket")
    }

    /// The path of the first socket that has one, for people.
    package var description: String {
        let pairs = text.parts(";").compactMap { $0.dropping(prefix: "unix:") }.flatMap { $0.parts(",") }
        let path = pairs.lazy.compactMap { $0.dropping(prefix: "path=") }.first
        return path.flatMap(percentDecoded).map { String(decoding: $0, as: UTF8.self) } ?? text
    }
}
