package import CompanionWire
import FoundationEssentials

/// The permissions and the time that a device may get from a pairing.
package struct PairingGrant: Sendable, Hashable {
    /// The permissions that it may have, of those that it asks for; nil for all. Empty makes it read-only.
    package var permissions: [CompanionPermission]?
    /// How long it may stay, from the pairing on; nil without end.
    package var lifetime: Duration?

    package init(permissions: [CompanionPermission]? = nil, lifetime: Duration? = nil) {
        self.permissions = permissions
        self.lifetime = lifetime
    }

    /// All permissions that the device asks for, without an end.
    package static let everything = PairingGrant()
    /// No permission besides reading, without an end.
    package static let readOnly = PairingGrant(permissions: [])
}

extension PairingGrant {
    /// The time at which the access of a device that pairs now ends; nil without an end.
    func end(from now: Date) -> Date? {
        lifetime.map { now.addingTimeInterval(TimeInterval($0.components.seconds)) }
    }

    /// Returns the permissions that a device gets of those that it asks for, in the order in which it asks.
    func granted(of asked: [CompanionPermission]) -> [CompanionPermission] {
        let allowed = Set(permissions ?? CompanionPermission.all).intersection(CompanionPermission.all)
        var seen: Set<CompanionPermission> = []
        return asked.filter { allowed.contains($0) && seen.insert($0).inserted }
    }
}
