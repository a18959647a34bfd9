/// The services that a host publishes under one instance name, all or none of them.
package struct Advertisement: Sendable {
    /// A service: its type, the TCP (or UDP) port and the TXT record's key/value pairs in order.
    package typealias Service = (type: ServiceType, port: Int, txt: [(String, String)])

    /// The instance name, for people. One over 63 bytes of UTF-8 is cut at a character (RFC 6763, section 4.1.1).
    package var name: String
    /// The services, each of another type. At least one.
    package var services: [Service]

    package init(name: String, services: [Service]) {
        self.name = name
        self.services = services
    }

    /// The name as it is published if nobody else has it.
    var instanceName: String {
        var result = ""
        var length = 0
        for character in name {
            length += character.utf8.count
            guard length <= 63 else { break }
            result.append(character)
        }
        return result
    }

    /// Checks everything that DNS-SD asks for before an engine is bothered.
    ///
    /// - Throws: ``DiscoveryError/Code/invalidAdvertisement``.
    func validate() throws(DiscoveryError) {
        func reject(_ message: String) throws(DiscoveryError) -> Never {
            throw DiscoveryError(.invalidAdvertisement, message: message)
        }
        if instanceName.isEmpty { try reject("a service needs a name") }
        if name.utf8.contains(0) { try reject("the name of a service cannot hold a NUL byte") }
        if services.isEmpty { try reject("there is nothing to publish") }
        if Set(services.map(\.type)).count < services.count { try reject("a service type is listed twice") }
        for service in services {
            if !(1...65535).contains(service.port) { try reject("\(service.port) is not a port (1…65535)") }
            for (key, value) in service.txt {
                let isKey =
                    !key.isEmpty && key.utf8.allSatisfy { (0x20...0x7e).contains($0) && $0 != UInt8(ascii: "=") }
                if !isKey { try reject("a TXT key has to be printable ASCII without \"=\" (RFC 6763, section 6.4)") }
                // One length byte in front of each string (section 6.1).
                if key.utf8.count + 1 + value.utf8.count > 255 { try reject("the TXT item \(key) is over 255 bytes") }
            }
        }
    }
}

/// A change in the state of an ``Advertisement``.
package enum AdvertisementEvent: Sendable, Hashable {
    /// The services are on the network, under a name that may differ from the wished one after collisions.
    case published(name: String, engine: DiscoveryEngineKind)
    /// Another host has the name: the next one is tried. `published` or another `renamed` follows.
    case renamed(from: String, to: String)
    /// The services are off the network because the engine is gone or refused them. It is tried again with growing
    /// pauses.
    case interrupted(DiscoveryError)
    /// The services are back after an interruption; `published` with the name follows.
    case resumed
}
