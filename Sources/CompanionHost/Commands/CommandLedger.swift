import CompanionWire
import FoundationEssentials
import GRDB

/// Executes each command once: stores its result with its effect, and gives the stored result to a repetition.
struct CommandLedger: Sendable {
    /// The result of a command, and whether it is a stored one that is given again.
    struct Outcome: Sendable {
        var result: CanonicalJSON
        var isReplay: Bool
    }

    /// The result of a command that has been noted, and has no result yet.
    static let pending = CanonicalJSON.null
    private static let nonceUsed = HostError(.commandReplayed, "The nonce was used before")

    let database: HostDatabase
    let gate: DeviceGate
    let quotas: DeviceQuotas

    /// The stored result of a command that was executed before, within a transaction; nil for a new one.
    ///
    /// - Throws: ``HostError`` with `command.conflict` if the id was used for another command.
    private static func result(of command: SignedCommand, digest: [UInt8], in database: Database) throws
        -> CanonicalJSON?
    {
        guard let seen = try SeenCommand.fetchOne(database, key: command.commandId) else { return nil }
        guard Array(seen.digest) == digest else {
            throw HostError(.commandConflict, "The commandId was used for another command")
        }
        return try CanonicalJSON(parsing: Array(seen.result))
    }

    /// The stored result of a command that was executed before, without any effect; nil for a new one.
    ///
    /// - Throws: ``HostError`` for a command that would be refused.
    func result(
        of command: SignedCommand,
        digest: [UInt8],
        permission: CompanionPermission
    ) async throws -> CanonicalJSON? {
        try await database.readChecked { database in
            if let result = try Self.result(of: command, digest: digest, in: database) { return result }
            guard try !SeenNonce.exists(database, key: ["device": command.deviceId, "nonce": command.nonce]) else {
                throw Self.nonceUsed
            }
            try requirePermission(permission, of: command)
            return nil
        }
    }

    /// The checks that belong to the transaction of the effect: the nonce, then the permission as it is now.
    private func admit(_ command: SignedCommand, for permission: CompanionPermission, in database: Database) throws {
        guard try SeenNonce.note(command.nonce, of: command.deviceId, until: command.expiresAt, in: database) else {
            throw Self.nonceUsed
        }
        try requirePermission(permission, of: command)
    }

    private func requirePermission(_ permission: CompanionPermission, of command: SignedCommand) throws {
        guard try gate.activeDevice(command.deviceId).may(permission) else {
            throw HostError.lacking(permission, device: command.deviceId)
        }
    }

    /// Stores a command and its result, within a transaction.
    static func remember(
        _ command: SignedCommand,
        digest: [UInt8],
        result: CanonicalJSON,
        in database: Database
    ) throws {
        try SeenCommand(
            commandId: command.commandId,
            digest: Data(digest),
            device: command.deviceId,
            result: Data(result.bytes),
            expiresAt: command.expiresAt
        ).insert(database)
    }

    /// Executes a command in one transaction, or gives its stored result.
    ///
    /// - Parameters:
    ///   - effect: Makes the command's changes in the database, and returns the result. An error undoes all of them.
    ///   - committed: Called after the commit, before the next transaction, unless it was a repetition.
    func once(
        _ command: SignedCommand,
        digest: [UInt8],
        permission: CompanionPermission,
        effect: @escaping @Sendable (Database) throws -> CanonicalJSON,
        committed: @escaping @Sendable () -> Void = {}
    ) async throws -> Outcome {
        try await database.writeChecked(durably: true) { database in
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

    /// Notes a command before an effect outside of the database, and stores its result afterwards. After a crash in
    /// between, its repetition has the effect once more: that has to be no error, or the effect has to store the result
    /// itself.
    ///
    /// - Parameter effect: Carries the command out. If it throws a ``HostError``, nothing was done, and the command is
    ///   forgotten.
    func noting(
        _ command: SignedCommand,
        digest: [UInt8],
        permission: CompanionPermission,
        effect: () async throws -> CanonicalJSON
    ) async throws -> Outcome {
        let known = try await database.writeChecked(durably: true) { database -> CanonicalJSON? in
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
        try await database.write(durably: true) { try SeenCommand.update(command.commandId, result: result, in: $0) }
        return Outcome(result: result, isReplay: false)
    }

    /// Forgets a command that had no effect.
    ///
    /// - Parameters:
    ///   - usage: The usage that was counted for it, and is taken back.
    ///   - draft: The chat that it has made of a draft, and is one again.
    func forget(_ command: SignedCommand, refunding usage: DeviceUsage? = nil, draft: String? = nil) async throws {
        try await database.write { database in
            if let draft, var chat = try ChatRecord.fetchOne(database, key: ["id": draft]) {
                chat.draftOf = command.deviceId
                try chat.update(database, columns: ["draftOf"])
            }
            if let usage { try quotas.refund(usage, to: command.deviceId, in: database) }
            try SeenCommand.deleteOne(database, key: command.commandId)
            try SeenNonce.deleteOne(database, key: ["device": command.deviceId, "nonce": command.nonce])
        }
    }
}
