package import CompanionWire

extension PairingTarget {
    /// The host that a QR code names with its address; nil if it names none that pairtool may connect to.
    package init?(payload: PairingPayload) {
        // Without an id or a key, an address does not identify a host: the code could go to any machine.
        guard payload.host != nil || payload.spki != nil, let address = payload.addr.flatMap({ IPAddress($0) }),
            address.isLocal
        else { return nil }
        let endpoint = CompanionEndpoint(address: address, port: payload.port ?? PairingPayload.defaultPort)
        self.init(endpoint: endpoint, family: .copilotforge, isSecure: true)
        id = payload.host ?? id
    }
}
