import CompanionWire
import FoundationEssentials

/// A device in JSON.
struct DeviceRow: Encodable {
    var id: String
    var name: String
    var pairedAt: Date?
    var lastSeenAt: Date?
    var connected: Bool
    var isThisDevice: Bool

    init(_ device: CompanionDevice, connected: String?, own: String) {
        id = device.id
        name = device.name
        pairedAt = device.pairedAt
        lastSeenAt = device.lastSeenAt
        self.connected = device.id == connected
        isThisDevice = device.id == own
    }
}
