import ArgumentParser
import CompanionWire
import Identity

/// The trust that a command requires of a host.
enum RequiredTrust: String, ExpressibleByArgument, CaseIterable {
    /// Verified hosts only.
    case verified

    /// - Throws: ``CommandError`` with exit code 13 if the host's trust is lower.
    func check(_ host: PairedHost) throws {
        guard host.trust != .verified else { return }
        throw CommandError(
            .legacyRefused,
            "host.not_verified",
            "\(host.name) is a legacy host, and --require verified refuses those",
            next: "if the host supports protocol 2, pair again: pairtool pair"
        )
    }
}
