internal import CompanionWire
internal import FoundationEssentials

extension AutoPairing {
    /// Whether a waiting code is sent now, keeps waiting or is dropped.
    enum Decision {
        case go(Destination)
        /// Wait, and report why.
        case hold(Report?)
        case drop(Report)
    }

    func decision(about code: Waiting, now: Date) -> Decision {
        if let retryAt = code.retryAt, retryAt > now { return .hold(nil) }
        let decision = code.payload.spki == nil ? choice(code) : named(code)
        if case .go(let destination) = decision, code.refused.contains(destination) { return .hold(nil) }
        return decision
    }

    /// The code names its host by id and key. Only that host is tried; others do not have the key and get nothing.
    private func named(_ code: Waiting) -> Decision {
        guard let hostID = code.payload.host else {
            if let host = hosts.values.first(where: \.isNamed) { return .go(.host(host.id)) }
            // Codes for small windows name only the key and the address.
            guard code.payload.addr != nil else { return .drop(.failed("the code names a key, but no host")) }
            guard rules.only.isEmpty else {
                return .drop(.failed("the code does not name its host: enlarge the window that shows it"))
            }
            return .go(.named)
        }
        if let name = paired[hostID] { return .drop(.alreadyPaired(name)) }
        let host = hosts.values.filter { $0.advertisedID == hostID || $0.isNamed }.min { $0.id < $1.id }
        guard rules.allows(name: host?.name, id: hostID) else {
            // The host's name is known only once it is in sight.
            return .hold(host.map { .excluded($0.name) } ?? .waitingFor(hostID: hostID))
        }
        if let host { return .go(.host(host.id)) }
        return code.payload.addr == nil ? .hold(.waitingFor(hostID: hostID)) : .go(.named)
    }

    /// The code names no host, so it goes to the only host in sight.
    private func choice(_ code: Waiting) -> Decision {
        if let version = code.payload.version, version >= 2 {
            return .drop(.failed("the code uses protocol \(version), but does not name its host's key"))
        }
        let candidates = candidates
        guard isSettled, let host = candidates.first else { return .hold(nil) }
        guard code.rivals.union([host.id]).count == 1, !host.isAmbiguous else { return .hold(.ambiguous(candidates)) }
        if let name = paired[host.id] { return .drop(.alreadyPaired(name)) }
        return .go(.host(host.id))
    }
}

extension AutoPairing.Rules {
    /// Whether pairing with a host is allowed.
    ///
    /// - Parameters:
    ///   - name: The name that it advertises; nil if it is not known.
    ///   - id: The id that it advertises, or the id in the code.
    func allows(name: String?, id: String) -> Bool {
        only.isEmpty
            || only.contains {
                // No beginning of a name: any host can call itself so.
                let word = UserWord($0.lowercased())
                return name.map(word.isName) == true || word.begins(id: id)
            }
    }
}
