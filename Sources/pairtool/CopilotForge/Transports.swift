import CompanionWire
import Discovery

extension CopilotForgeFamily {
    func transports(
        of host: DiscoveredHost,
        _ endpoints: [DiscoveredEndpoint]
    ) -> (plain: [CompanionEndpoint], secure: [CompanionEndpoint]) {
        // `_cf-companion._tcp` points to the TLS port of hosts that also speak plain HTTP elsewhere; a host that says
        // nothing of version 2 in its TXT record is taken at its word.
        let speaksTLS = host.txt["tls"] != nil || host.txt["v"] == "2"
        let plain = endpoints.filter { $0.type != .companionShort || !speaksTLS }
        var secure = endpoints.filter { $0.type == .companionShort && speaksTLS }.map(\.endpoint)
        if let port = host.txt["tls"].flatMap(Int.init), (1...65535).contains(port) {
            secure += plain.map { CompanionEndpoint(address: $0.endpoint.address, port: port) }
        }
        return (plain.map(\.endpoint).unique, secure.unique)
    }
}
