package import CompanionWire
package import Identity
import PairingAgent

/// The routes of a paired host, in the order in which they are tried.
extension PairedHost {
    /// The most routes that a host has.
    private static let mostRoutes = 8

    /// Adds a route behind those of its rung and of the rungs before.
    ///
    /// - Throws: ``AppError`` for a host that proves nothing, a route that it has, and one that cannot lead to a host.
    package mutating func add(_ route: HostRoute) throws {
        guard trust == .verified else {
            throw AppError(
                .usage,
                "host.legacy_route",
                "\(name) was paired with protocol 1 and cannot prove who it is, so that it is reached directly only",
                next: "if the host supports protocol 2, pair again: pairtool pair"
            )
        }
        try Self.check(route)
        var routes = routes ?? []
        guard !routes.contains(route) else {
            throw AppError(.usage, "host.route_known", "\(name) has the route \(route) already")
        }
        guard routes.count < Self.mostRoutes else {
            throw AppError(
                .usage,
                "host.routes_full",
                "\(name) has \(Self.mostRoutes) routes, which is the most",
                next: "remove one: pairtool hosts routes remove \(id.shortID) ROUTE"
            )
        }
        let order = HostRoute.Rung.allCases
        func place(_ route: HostRoute) -> Int { order.firstIndex(of: route.rung) ?? order.endIndex }
        let index = routes.firstIndex { place($0) > place(route) } ?? routes.endIndex
        routes.insert(route, at: index)
        self.routes = routes
    }

    /// Takes in the routes that the host has told: new ones are added, and those that it does not tell any more are
    /// removed. What the user has removed stays so.
    mutating func take(told: [HostRoute]) {
        let old = toldRoutes ?? []
        // A QR code names relays without their ids.
        for route in told {
            guard case .relay(let full) = route else { continue }
            let short = HostRoute.relay(RelayRoute(relay: full.relay.replacingID(with: nil), host: full.host))
            guard short != route, let index = routes?.firstIndex(of: short) else { continue }
            routes?[index] = route
            if via == short { via = route }
        }
        for route in told where !old.contains(route) && routes?.contains(route) != true { try? add(route) }
        let left = (routes ?? []).filter { !old.contains($0) || told.contains($0) }
        routes = left.isEmpty ? nil : left
        toldRoutes = told.isEmpty ? nil : told
    }

    private static func check(_ route: HostRoute) throws {
        guard case .direct(let name) = route else { return }
        if name.host.ends(with: ".local") || name.host.ends(with: ".local.") {
            throw AppError(
                .usage,
                "host.route_local",
                "\(name.host) is a name of this network, where pairtool finds the host by itself: it needs no route"
            )
        }
        guard let address = IPAddress(name.host) else { return }
        guard address.isLocal || address.scope == .global else {
            throw AppError(.usage, "host.route_address", "\(address) is not the address of a machine")
        }
    }

    /// Removes a route.
    ///
    /// - Parameter text: As ``HostRoute/description`` writes it, or as messages call its place.
    /// - Returns: The route.
    /// - Throws: ``AppError`` if it has no such route, or several.
    @discardableResult
    package mutating func removeRoute(_ text: String) throws -> HostRoute {
        let route = try route(text)
        let left = (routes ?? []).filter { $0 != route }
        routes = left.isEmpty ? nil : left
        if via == route, isFar != true { via = nil }
        return route
    }

    /// Puts routes first, in this order; the others follow as they were.
    ///
    /// - Throws: ``AppError`` if it has not all of them.
    package mutating func orderRoutes(_ texts: [String]) throws {
        let first = try texts.map { try route($0) }.unique
        routes = first + (routes ?? []).filter { !first.contains($0) }
    }

    private func route(_ text: String) throws -> HostRoute {
        let meant = HostRoute(text)
        let found = (routes ?? []).filter { $0 == meant || $0.place.isSame(as: text) || "\($0)".isSame(as: text) }
        if let route = found.first, found.count == 1 { return route }
        let known = (routes ?? []).map(\.description).joined(separator: ", ")
        throw AppError(
            .usage,
            "host.route_unknown",
            found.isEmpty
                ? "\(name) has no route “\(text)”" + (known.isEmpty ? "" : "; it has: \(known)")
                : "“\(text)” means several routes of \(name): \(known)",
            next: "see them: pairtool hosts routes \(id.shortID)"
        )
    }
}
