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

    /// The path of the socket in an address of a bus, such as `unix:path=/run/dbus/system_bus_socket`; nil where it
    /// is of another kind.
    package static func socketPath(inAddress address: String) -> String? {
        for alternative in address.split(separator: ";") where alternative.hasPrefix("unix:") {
            for pair in alternative.dropFirst(5).split(separator: ",") where pair.hasPrefix("path=") {
                return String(pair.dropFirst(5))
            }
        }
        return nil
    }
}
