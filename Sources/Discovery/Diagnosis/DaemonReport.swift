import CompanionWire

/// What the system bus says of the Avahi daemon.
package enum DaemonReport: Sendable, Hashable {
    /// There is no system bus: no socket at this path.
    case noBus(path: String)
    /// There is a socket, but the bus behind it does not do its work, for this reason.
    case busBroken(path: String, reason: String)
    /// The bus works, and nobody there is the Avahi daemon.
    case noDaemon
    /// The daemon is there and does not answer, or refuses to: this is what happened.
    case daemonBroken(String)
    /// The daemon answers.
    case daemon(version: String, hostName: String, state: State)

    /// `AvahiServerState` (avahi-common/defs.h).
    package enum State: UInt32, Sendable, Hashable {
        case invalid = 0
        case registering = 1
        case running = 2
        /// Another machine has the host name.
        case collision = 3
        case failure = 4
    }

    /// The path of the first socket in the addresses of a bus, such as `unix:path=/run/dbus/system_bus_socket` (D-Bus
    /// specification, Server Addresses); nil where they are of other kinds.
    package static func socketPath(inAddress address: String) -> String? {
        let pairs = address.parts(";").compactMap { $0.dropping(prefix: "unix:") }.flatMap { $0.parts(",") }
        guard let path = pairs.lazy.compactMap({ $0.dropping(prefix: "path=") }).first else { return nil }
        return percentDecoded(path).map { String(decoding: $0, as: UTF8.self) }
    }
}
