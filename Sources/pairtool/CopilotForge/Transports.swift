import CompanionWire
import Discovery

extension CopilotForgeFamily {
    func transports(
        of host: DiscoveredHost,
        _ endpoints: [DiscoveredEndpoint]
    ) -> (plain: [CompanionEndpoint], secure: [CompanionEndpoint]) {
        // On hosts that also speak plain HTTP on another port, `_cf-companion._tcp` points to the TLS port. A host
        // whose TXT record does not mention version 2 speaks plain HTTP at the advertised port.
        let speaksTLS = host.txt["tls"] != nil || host.txt["v"] == "2"
        let plain = endpoints.filter { $0.type != .companionShort || !speaksTLS }
        var secure = endpoints.filter { $0.type == .companionShort && speaksTLS }.map(\.endpoint)
        if let port = host.txt["tls"].flatMap(Int.init), (1...65535).contains(port) {
            secure += plain.map { CompanionEndpoint(address: $0.endpoint.address, port: port) }
        }
        return (plain.map(\.endpoint).unique, secure.unique)
    }
}
