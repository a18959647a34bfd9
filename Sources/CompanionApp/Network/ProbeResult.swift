/// The result of a probe: the report of a host at `GET /health` or, for a Lumi Mac, whether it accepts a connection.
package struct ProbeResult: Encodable, Sendable, Hashable {
    package enum State: String, Encodable, Sendable {
        /// A host of its family answers.
        case up
        /// Nothing answers.
        case down
        /// Another service answers on the port.
        case other
        /// Not asked: the address is not on this machine's networks.
        case skipped
        /// Claims to be a paired host, but has another key.
        case impostor
    }

    package var state: State
    var service: String?
    var version: String?
    var address: String?
    /// Why it is down, or which service answers instead.
    package var reason: String?

    package var text: String {
        switch state {
        case .up: "up" + (service.map { " (\($0)\(version.map { " \($0)" } ?? ""))" } ?? "")
        case .down: "down"
        case .other: "other service"
        case .skipped: "–"
        case .impostor: "other key"
        }
    }
}
