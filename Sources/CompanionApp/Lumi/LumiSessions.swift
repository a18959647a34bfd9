package import CompanionClient
import CompanionWire
import FoundationEssentials
package import Identity
import LocalState
import Logging
import PairingAgent

/// Opens connections to paired Lumi hosts, and removes the data that was pulled from them.
package enum LumiSessions {
    /// Removes the data that was pulled from a host, including keys, and the chats with its agents on this machine.
    static func forget(_ host: PairedHost, environment: AppEnvironment) throws {
        let directory = LumiStore(data: environment.paths.data, hostID: host.id).directory
        guard FileStatus(directory) != nil else { return }
        do {
            try FileManager.default.removeItem(atPath: directory)
        } catch {
            throw AppError(
                .failed,
                "file",
                "what was pulled from \(host.name) could not be removed",
                next: "rm -r '\(directory)'"
            )
        }
    }

    /// Runs a body with a connection that the host has accepted. Commands of other processes wait until this one ends.
    ///
    /// - Throws: ``AppError``; what the body throws.
    package static func withConnection<R>(
        _ host: PairedHost,
        environment: AppEnvironment,
        _ body: (LumiClient) async throws -> R
    ) async throws -> R {
        let name = "lumi-" + DeviceIdentity.shortHash("\(host.id) \(host.endpoint)").prefix(8)
        let notice = "Another command for \(TerminalText.line(host.name)) is running. Waiting for it to end."
        return try await FileLock.with(
            "\(environment.paths.runtime)/\(name).lock",
            onWait: { environment.interaction.say(notice) }
        ) { _ in
            try await LumiClient.withClient(
                endpoint: host.endpoint,
                clock: environment.clock,
                logger: environment.logger("lumi")
            ) { client in
                let deviceName = host.deviceName ?? MachineName.current
                let approval = LumiConnectionApproval(
                    hostName: host.name,
                    deviceName: deviceName,
                    interaction: environment.interaction
                )
                _ = try await approval.accept(client)
                return try await body(client)
            }
        }
    }
}
