import CompanionWire
import Discovery

extension DiscoveredHost {
    /// Where it answers in plain HTTP, and where in TLS, as its advertisement says.
    ///
    /// - Parameter endpoints: Those of its endpoints that count. Default: nil, all.
    func endpointsByTransport(
        of endpoints: [DiscoveredEndpoint]? = nil
    ) -> (plain: [CompanionEndpoint], secure: [CompanionEndpoint]) {
        let endpoints = endpoints ?? self.endpoints
        // AICLI servers speak TLS or not, at the one port that they have.
        if family == .aicli, txt["tls"] == "enabled" { return ([], endpoints.map(\.endpoint).unique) }
        // `_cf-companion._tcp` points to the TLS port of hosts that also speak plain HTTP elsewhere; a host that says
        // nothing of version 2 in its TXT record is taken at its word.
        let speaksTLS = txt["tls"] != nil || txt["v"] == "2"
        let plain = endpoints.filter { $0.type != .companionShort || !speaksTLS }
        var secure = endpoints.filter { $0.type == .companionShort && speaksTLS }.map(\.endpoint)
        if let port = txt["tls"].flatMap(Int.init), (1...65535).contains(port) {
            secure += plain.map { CompanionEndpoint(address: $0.endpoint.address, port: port) }
        }
        return (plain.map(\.endpoint).unique, secure.unique)
    }
}
