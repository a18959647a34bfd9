import ArgumentParser
import CompanionWire
import PairingAgent

/// How much a host has to have proven for a command to speak to it.
enum RequiredTrust: String, ExpressibleByArgument, CaseIterable {
    /// Nothing but hosts that were paired with proof.
    case verified

    /// - Throws: ``CommandError`` with exit code 13 for a host that has proven less.
    func check(_ host: PairedHost) throws {
        guard host.trust != .verified else { return }
        throw CommandError(
            .legacyRefused,
            "host.not_verified",
            "\(host.name) is a legacy host: plain HTTP, nothing proven. --require verified refuses it",
            next: "pair it with proof, where it speaks protocol 2: pairtool pair"
        )
    }
}
