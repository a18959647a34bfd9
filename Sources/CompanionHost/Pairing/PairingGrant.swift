package import CompanionWire
import FoundationEssentials

/// What a device may get from a pairing.
package struct PairingGrant: Sendable, Hashable {
    /// The permissions that it may have, of those that it asks for; nil for all. Empty makes it read-only.
    package var permissions: [CompanionPermission]?
    /// How long it may stay, from the pairing on; nil without end.
    package var lifetime: Duration?

    package init(permissions: [CompanionPermission]? = nil, lifetime: Duration? = nil) {
        self.permissions = permissions
        self.lifetime = lifetime
    }

    package static let everything = PairingGrant()
    /// Reading only.
    package static let readOnly = PairingGrant(permissions: [])
}

extension PairingGrant {
    /// When a device that pairs now has to go.
    func end(from now: Date) -> Date? {
        lifetime.map { now.addingTimeInterval(TimeInterval($0.components.seconds)) }
    }

    /// What a device gets of what it asks for.
    func granted(of asked: [CompanionPermission]) -> [CompanionPermission] {
        let allowed = Set(permissions ?? CompanionPermission.all).intersection(CompanionPermission.all)
        var seen: Set<CompanionPermission> = []
        return asked.filter { allowed.contains($0) && seen.insert($0).inserted }
    }
}
