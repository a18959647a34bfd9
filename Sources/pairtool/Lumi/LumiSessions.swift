import CompanionApp
import CompanionClient
import CompanionWire
import FoundationEssentials
import Identity
import LocalState
import Logging

/// Opens connections to paired Lumi hosts, and removes the data that was pulled from them.
enum LumiSessions {
    /// Removes the data that was pulled from a host, including keys, and the chats with its agents on this machine.
    static func forget(_ host: PairedHost, context: CommandContext) throws {
        let directory = LumiStore(data: context.paths.data, hostID: host.id).directory
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
    static func withConnection<R>(
        _ host: PairedHost,
        output: Output,
        _ body: (LumiClient) async throws -> R
    ) async throws -> R {
        let context = output.context
        let name = "lumi-" + DeviceIdentity.shortHash("\(host.id) \(host.endpoint)").prefix(8)
        let notice = "Another command for \(TerminalText.line(host.name)) is running. Waiting for it to end."
        return try await FileLock.with("\(context.paths.runtime)/\(name).lock", onWait: { output.say(notice) }) { _ in
            try await LumiClient.withClient(
                endpoint: host.endpoint,
                clock: context.clock,
                logger: LoggingSetup.logger("lumi", context: context)
            ) { client in
                let deviceName = host.deviceName ?? MachineName.current
                let approval = LumiConnectionApproval(hostName: host.name, deviceName: deviceName, output: output)
                _ = try await approval.accept(client)
                return try await body(client)
            }
        }
    }
}
