import CompanionWire

extension CompanionEndpoint {
    /// Throws ``CompanionClientError/Code/refusedAddress`` unless the address is loopback, link-local, private or of a
    /// VPN mesh, and can be connected to.
    func requireLocal() throws {
        guard address.isLocal else {
            throw refused("is not a local address: pairtool connects only to this machine, its networks and VPNs")
        }
        try requireUsable()
    }

    /// Throws ``CompanionClientError/Code/refusedAddress`` unless the address is of one machine and can be connected
    /// to.
    func requireUsable() throws {
        guard address.isLocal || address.scope == .global else { throw refused("is not the address of a machine") }
        guard (1...65535).contains(port) else { throw refused("has no valid port") }
        guard !address.isIPv6 || address.scope != .linkLocal || address.unmapped != address || address.zone != nil
        else {
            throw refused("is link-local and needs its interface, as in fe80::1%eth0")
        }
    }

    private func refused(_ why: String) -> CompanionClientError {
        CompanionClientError(.refusedAddress, message: "\(self) \(why). Nothing was sent.", delivery: .notSent)
    }

    /// The address without its zone or brackets.
    var unscopedAddress: String {
        IPAddress(bytes: address.bytes)?.description ?? ""
    }

    /// `192.168.1.5:7878` or `[fe80::1]:7878`: without a zone.
    var authority: String {
        "\(address.isIPv6 ? "[\(unscopedAddress)]" : unscopedAddress):\(port)"
    }

    /// The address as the system's resolver reads it, with its zone.
    var connectName: String { address.description }

    /// The address to connect to in place of the URL's host, by that host; empty for an address without a zone.
    ///
    /// A zone has no place in a URL of the HTTP library nor in a Host header (RFC 6874, section 1): the URL goes
    /// without, and the connection goes to the address with its zone, which the system's resolver reads.
    var nameOverrides: [String: String] {
        guard let zone = address.zone else { return [:] }
        return ["[\(unscopedAddress)]": "\(unscopedAddress)%\(zone)"]
    }
}
