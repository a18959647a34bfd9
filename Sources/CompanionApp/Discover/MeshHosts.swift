import CompanionClient
import CompanionWire
package import Identity
import LocalState
import Logging
import PairingAgent

/// The hosts on machines of this machine's Tailscale network, where mDNS does not reach.
package enum MeshHosts {
    /// Machines that are asked at the same time.
    private static let atATime = 16

    /// Asks the machines that are online. Where no such network runs, nobody is asked.
    package static func rows(paired: PairedHosts, in environment: AppEnvironment) async -> [SightedHost] {
        let socket = environment.variables["TS_SOCKET"] ?? Tailscale.socket
        guard FileStatus(socket) != nil else { return [] }
        let logger = environment.logger("tailscale")
        let machines: [Tailscale.Machine]
        do {
            machines = try await Tailscale.machines(socket: socket, logger: logger)
        } catch {
            logger.debug("no answer of Tailscale", metadata: ["reason": "\(error)"])
            return []
        }
        return await withTaskGroup(of: (Int, SightedHost?).self) { group in
            var waiting = machines.enumerated().makeIterator()
            func askNext() {
                guard let (number, machine) = waiting.next() else { return }
                group.addTask { (number, await row(of: machine, paired: paired)) }
            }
            for _ in 0..<atATime { askNext() }
            var rows: [Int: SightedHost] = [:]
            for await (number, row) in group {
                rows[number] = row
                askNext()
            }
            return machines.indices.compactMap { rows[$0] }
        }
    }

    private static func row(of machine: Tailscale.Machine, paired: PairedHosts) async -> SightedHost? {
        guard let address = machine.addresses.first, let place = HostAddress("\(address)"),
            var row = try? await HostFamily.usual.behavior.look(at: place, paired: paired)
        else { return nil }
        if !row.paired { row.name = machine.name }
        return row
    }
}
