import CompanionWire
import FoundationEssentials
import GRDB

extension SignedCommandService {
    /// What is remembered of an executed command, within a transaction; nil for a new one.
    ///
    /// - Throws: `command.conflict` when the id was used for something else.
    static func result(of command: SignedCommand, digest: [UInt8], in database: Database) throws -> CanonicalJSON? {
        let statement = try database.cachedStatement(sql: "SELECT digest, result FROM seenCommand WHERE commandId = ?")
        guard let row = try Row.fetchOne(statement, arguments: [command.commandId]) else { return nil }
        guard Array(row[0] as Data) == digest else {
            throw HostError(
                .commandConflict,
                "The commandId was used for another command"
            )
        }
        return try CanonicalJSON(parsing: Array(row[1] as Data))
    }

    /// The checks that belong to the transaction of the effect: the nonce, then the permission as it is now.
    func admit(_ command: SignedCommand, for permission: CompanionPermission, in database: Database) throws {
        guard try SeenNonces.note(command.nonce, of: command.deviceId, until: command.expiresAt, in: database) else {
            throw HostError.nonceUsed
        }
        try requirePermission(permission, of: command)
    }

    func requirePermission(_ permission: CompanionPermission, of command: SignedCommand) throws {
        guard try gate.activeDevice(command.deviceId).may(permission) else { throw HostError.permissionDenied }
    }

    /// The result of a command that has been noted and not come to anything yet.
    static let pending = CanonicalJSON.null

    /// Remembers a command and what it came to, within a transaction.
    static func remember(
        _ command: SignedCommand,
        digest: [UInt8],
        result: CanonicalJSON,
        in database: Database
    ) throws {
        let statement = try database.cachedStatement(
            sql: "INSERT INTO seenCommand (commandId, digest, device, result, expiresAt) VALUES (?, ?, ?, ?, ?)"
        )
        try statement.execute(arguments: [
            command.commandId, Data(digest), command.deviceId, Data(result.bytes),
            CompanionTimestamp.string(from: command.expiresAt),
        ])
    }

    /// Remembers what a noted command came to, within a transaction.
    static func update(_ command: SignedCommand, result: CanonicalJSON, in database: Database) throws {
        try database.execute(
            sql: "UPDATE seenCommand SET result = ? WHERE commandId = ?",
            arguments: [Data(result.bytes), command.commandId]
        )
    }

    /// Executes a command in one transaction, or gives its stored result.
    ///
    /// - Parameters:
    ///   - effect: What the command does to the database; gives the result. What it throws undoes everything.
    ///   - committed: Called after the commit, before the next transaction, unless it was a repetition.
    func once(
        _ command: SignedCommand,
        digest: [UInt8],
        permission: CompanionPermission,
        effect: @escaping @Sendable (Database) throws -> CanonicalJSON,
        committed: @escaping @Sendable () -> Void = {}
    ) async throws -> Outcome {
        try await database.writeChecked { database in
            if let result = try Self.result(of: command, digest: digest, in: database) {
                return Outcome(result: result, isReplay: true)
            }
            try admit(command, for: permission, in: database)
            let result = try effect(database)
            try Self.remember(command, digest: digest, result: result, in: database)
            return Outcome(result: result, isReplay: false)
        } committed: { outcome in
            if !outcome.isReplay { committed() }
        }
    }

    /// Notes a command before an effect outside of the database, and what it came to afterwards. After a crash in between,
    /// its repetition has the effect once more: twice has to be no error, or the effect writes down itself what it came to.
    ///
    /// - Parameter effect: What it throws as a ``HostError`` is no effect: the command is forgotten.
    func noting(
        _ command: SignedCommand,
        digest: [UInt8],
        permission: CompanionPermission,
        effect: () async throws -> CanonicalJSON
    ) async throws -> Outcome {
        let known = try await database.writeChecked { database -> CanonicalJSON? in
            if let result = try Self.result(of: command, digest: digest, in: database) {
                guard result == Self.pending else { return result }
                try requirePermission(permission, of: command)
                return nil
            }
            try admit(command, for: permission, in: database)
            try Self.remember(command, digest: digest, result: Self.pending, in: database)
            return nil
        }
        if let known { return Outcome(result: known, isReplay: true) }
        let result: CanonicalJSON
        do {
            result = try await effect()
        } catch let refusal as HostError {
            try await forget(command)
            throw refusal
        }
        try await database.write { try Self.update(command, result: result, in: $0) }
        return Outcome(result: result, isReplay: false)
    }

    /// Forgets a command whose effect did not come about.
    ///
    /// - Parameter usage: What was counted for it.
    func forget(_ command: SignedCommand, refunding usage: DeviceUsage? = nil) async throws {
        try await database.write { [quotas] database in
            if let usage { try quotas.refund(usage, to: command.deviceId, in: database) }
            try database.execute(sql: "DELETE FROM seenCommand WHERE commandId = ?", arguments: [command.commandId])
            try database.execute(
                sql: "DELETE FROM seenNonce WHERE device = ? AND nonce = ?",
                arguments: [command.deviceId, command.nonce]
            )
        }
    }
}

extension HostError {
    static let nonceUsed = HostError(.commandReplayed, "The nonce was used before")
}
