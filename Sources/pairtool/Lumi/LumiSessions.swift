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
        HeldConnection(host, context).end()
        let directory = LumiStore(data: context.paths.data, hostID: host.id).directory
        guard FileStatus(directory) != nil else { return }
        do {
            try FileManager.default.removeItem(atPath: directory)
        } catch {
            throw CommandError(
                .failed,
                "file",
                "what was pulled from \(host.name) could not be removed",
                next: "rm -r '\(directory)'"
            )
        }
    }

    /// Runs a body with a connection that the host has accepted: the one that an earlier command kept open, else a new
    /// one, which is kept open for the next command. Commands of other processes wait until this one ends.
    ///
    /// - Throws: ``CommandError``; what the body throws.
    static func withConnection<R>(
        _ host: PairedHost,
        output: Output,
        _ body: (LumiClient) async throws -> R
    ) async throws -> R {
        let held = HeldConnection(host, output.context)
        return try await held.withTurn(output) {
            let name = host.deviceName ?? MachineName.current
            let logger = LoggingSetup.logger("lumi", context: output.context)
            // An error of the body must not lead to a second attempt over a new connection.
            if held.isThere {
                let outcome = try await resumed(host, held, deviceName: name, body)
                if let outcome { return try outcome.get() }
            }
            return try await LumiClient.withClient(
                endpoint: host.endpoint,
                clock: output.context.clock,
                logger: logger
            ) { client in
                _ = try await LumiConnectionApproval(hostName: host.name, deviceName: name, output: output).accept(
                    client
                )
                let result: R
                do {
                    result = try await body(client)
                } catch {
                    await held.keep(client, output)
                    throw error
                }
                await held.keep(client, output)
                return result
            }
        }
    }

    /// Runs a body with the connection that was kept open.
    ///
    /// - Returns: nil if the connection no longer works; then only a ping was sent.
    private static func resumed<R>(
        _ host: PairedHost,
        _ held: HeldConnection,
        deviceName: String,
        _ body: (LumiClient) async throws -> R
    ) async throws -> Result<R, any Error>? {
        let logger = LoggingSetup.logger("lumi", context: .current)
        do {
            return try await LumiClient.withClient(endpoint: host.endpoint, relay: held.path, logger: logger) {
                client in
                try await client.takeOver(deviceName: deviceName)
                do {
                    return .success(try await body(client))
                } catch {
                    return .failure(error)
                }
            }
        } catch let error as CompanionClientError {
            logger.debug("the kept connection no longer works", metadata: ["error": "\(error)"])
            held.end()
            return nil
        }
    }
}
