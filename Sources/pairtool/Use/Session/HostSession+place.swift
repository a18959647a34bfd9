import CompanionClient
import CompanionWire
import PairingAgent

extension HostSession {
    /// Makes sure that a legacy host still has this device connected.
    ///
    /// Such a host has one device at a time, and its requests carry no credentials: it continues to serve a device that
    /// another one has superseded (protocol v1, Pairing), so that one's user would not know.
    ///
    /// - Throws: ``CommandError`` with exit code 5 where another device is connected. A host without any says so itself.
    func requireOwnPlace() async throws {
        guard host.family == .copilotforge, !isVerified else { return }
        guard let other = try await devices.status().connectedDevice, other.id != host.deviceID else { return }
        throw CommandError(
            .notPaired,
            "host.superseded",
            "\(host.name) is now connected to another device, “\(other.name)”, and accepts only one; nothing was sent",
            next: "show a new code on the host, then: pairtool pair"
        )
    }
}
