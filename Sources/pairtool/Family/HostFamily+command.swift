import CompanionWire
import PairingAgent

extension HostFamily {
    /// How to pair with the host of the family at an address.
    ///
    /// - Parameter url: As `pair --url` takes it.
    func pairCommand(at url: String) -> String {
        "pairtool pair " + (ways.goesFirst ? "" : "--family \(rawValue) ") + "--url \(url)"
    }
}

extension PairedHost {
    /// Its address, as `pair --url` takes it.
    var url: String { "\(spki == nil ? "http" : "https")://\(endpoint)" }
}
