/// What a host says of itself: by `GET /health`, or, of a Lumi Mac, by taking a connection.
struct ProbeResult: Encodable, Sendable, Hashable {
    enum State: String, Encodable, Sendable {
        /// A host of its family answers.
        case up
        /// Nothing answers.
        case down
        /// Something else answers on the port.
        case other
        /// It is not asked: the address is not on your network.
        case skipped
        /// It claims to be a paired host, but has another key.
        case impostor
    }

    var state: State
    var service: String?
    var version: String?
    var address: String?
    /// Why it is down, or what answers instead.
    var reason: String?

    var text: String {
        switch state {
        case .up: "up" + (service.map { " (\($0)\(version.map { " \($0)" } ?? ""))" } ?? "")
        case .down: "down"
        case .other: "other service"
        case .skipped: "–"
        case .impostor: "other key"
        }
    }
}
