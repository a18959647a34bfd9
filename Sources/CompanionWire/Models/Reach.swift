/// The body of `POST /companion/reach`: how the device can be recognised when it comes by a relay.
package struct CompanionReachRequest: Codable, Sendable, Hashable {
    /// The id of the certificate that the device shows to relays, for this host alone; nil for a device that uses none.
    package var relayId: RelayID?

    package init(relayId: RelayID?) {
        self.relayId = relayId
    }
}

/// The answer of `POST /companion/reach`: how the host is reached from other networks.
package struct CompanionReachResponse: Codable, Sendable, Hashable {
    package var ok: Bool
    /// The id by which relays know the host; nil for a host that joins none.
    package var relayId: RelayID?
    /// The relays that the host joins, the preferred one first.
    package var relays: [RelayAddress]

    package init(relayId: RelayID?, relays: [RelayAddress]) {
        ok = true
        (self.relayId, self.relays) = (relayId, relays)
    }

    /// The routes to the host over its relays.
    package var routes: [HostRoute] {
        guard let relayId else { return [] }
        return relays.prefix(Self.mostRelays).map { .relay(RelayRoute(relay: $0, host: relayId)) }
    }

    /// Relays of one host that are used.
    private static let mostRelays = 4
}
