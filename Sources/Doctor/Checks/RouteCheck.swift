import CompanionClient
package import CompanionWire
package import Identity

/// Whether a paired host is reached by each of its routes, and why not.
package struct RouteCheck: DoctorCheck {
    package let name = CheckName.route
    private let host: PairedHost
    private let prove: @Sendable (HostRoute) async throws -> Void

    /// - Parameters:
    ///   - host: One with routes.
    ///   - prove: Lets the host prove its key at the end of a route. Throws `CompanionClientError`.
    package init(host: PairedHost, prove: @escaping @Sendable (HostRoute) async throws -> Void) {
        self.host = host
        self.prove = prove
    }

    package func findings() async throws -> [Finding] {
        let routes = host.routes ?? []
        return try await withThrowingTaskGroup(of: (Int, Finding).self) { group in
            for (number, route) in routes.enumerated() {
                group.addTask { (number, try await finding(route)) }
            }
            var findings: [Int: Finding] = [:]
            for try await (number, finding) in group { findings[number] = finding }
            return routes.indices.compactMap { findings[$0] }
        }
    }

    private func finding(_ route: HostRoute) async throws -> Finding {
        let via = "via \(route.rung.rawValue) (\(route.place))"
        do {
            try await prove(route)
            return .ok(.route, about: host.name, evidence: "\(via): answers with its key")
        } catch let error as CompanionClientError {
            return .warning(
                .route,
                about: host.name,
                evidence: "\(via): \(error.message)",
                advice: error.isUnknownName ? .connectVPN : .checkRoute,
                values: ["HOST": host.name, "ROUTE": "\(route)"]
            )
        }
    }
}
