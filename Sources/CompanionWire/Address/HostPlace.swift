/// A place where a host may be: an address, or the end of another route.
package enum HostPlace: Sendable, Hashable {
    case address(CompanionEndpoint)
    case route(HostRoute)

    /// How much later the next route is tried (RFC 8305, section 5).
    package static let routeDelay = Duration.milliseconds(300)

    package var isRoute: Bool {
        if case .route = self { true } else { false }
    }
}

extension HostPlace: CustomStringConvertible {
    /// The place as messages name it: `192.168.1.5:7879`, `ssh://box`.
    package var description: String {
        switch self {
        case .address(let endpoint): "\(endpoint)"
        case .route(let route): route.place
        }
    }
}
