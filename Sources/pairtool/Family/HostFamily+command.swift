import CompanionWire
import Identity

extension HostFamily {
    /// The command that pairs with the family's host at an address.
    ///
    /// - Parameter url: In the form that `pair --url` takes.
    func pairCommand(at url: String) -> String {
        "pairtool pair " + (isUsual ? "" : "--family \(rawValue) ") + "--url \(url)"
    }
}

extension PairedHost {
    /// Its URL, in the form that `pair --url` takes.
    var url: String { "\(spki == nil ? "http" : "https")://\(endpoint)" }
}
