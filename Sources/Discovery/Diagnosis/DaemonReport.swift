package import DBus

/// The state of the Avahi daemon, as the system bus and the daemon report it.
package enum DaemonReport: Sendable, Hashable {
    /// There is no system bus: no socket at this path.
    case noBus(path: String)
    /// There is a socket, but the bus behind it does not do its work, for this reason.
    case busBroken(String)
    /// The bus works, but the Avahi daemon is not on it.
    case noDaemon
    /// The daemon is there and does not answer, or refuses to: this is what happened.
    case daemonBroken(String)
    /// The daemon answers.
    case daemon(version: String, hostName: String, state: State)

    /// `AvahiServerState` (avahi-common/defs.h).
    package enum State: Int32, Sendable, Hashable {
        case invalid = 0
        case registering = 1
        case running = 2
        /// Another machine has the host name.
        case collision = 3
        case failure = 4
    }

    /// Asks the bus, which starts no daemon for it.
    ///
    /// - Parameter limit: How long the bus and the daemon may take for each answer.
    /// - Throws: `CancellationError`.
    package static func ask(_ address: DBusAddress, limit: Duration) async throws -> DaemonReport {
        do {
            return try await DBusConnection.with(address, limit: limit) { bus in
                func ask(_ member: String) async throws -> DBusValue? {
                    try await bus.call(member, of: server, startsService: false).values.first
                }
                do {
                    guard let version = try await ask("GetVersionString")?.string,
                        let hostName = try await ask("GetHostNameFqdn")?.string,
                        case .int32(let state)? = try await ask("GetState")
                    else { return .daemonBroken("it gives no version, host name and state") }
                    return .daemon(version: version, hostName: hostName, state: State(rawValue: state) ?? .invalid)
                } catch let error as DBusError where error.isAny(of: "ServiceUnknown", "NameHasNoOwner") {
                    return .noDaemon
                } catch let error as DBusError {
                    return .daemonBroken(error.description)
                }
            }
        } catch let error as DBusError {
            return error.isAny(of: "FileNotFound") ? .noBus(path: "\(address)") : .busBroken("\(error)")
        }
    }

    private static let server = DBusInterface(
        "org.freedesktop.Avahi.Server",
        path: "/",
        service: "org.freedesktop.Avahi"
    )
}
