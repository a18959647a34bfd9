import Glibc
import LocalState

/// A file with an identity for relays: mode 0600, made at first use.
package struct RelayIdentityFile: Sendable {
    private let path: String

    package init(path: String) {
        self.path = path
    }

    /// The identity; nil where there is none yet.
    ///
    /// - Throws: ``RelayError/Code/badIdentity`` for a file that is damaged, or that others may have read or changed.
    package func existing() throws(RelayError) -> RelayIdentity? {
        let bytes: [UInt8]?
        do {
            bytes = try PrivateFile.readOwned(path, limit: 16 << 10)
        } catch {
            throw RelayError(
                .badIdentity,
                message: "The key for relays \(path) cannot be used: move it away for a new one.",
                underlying: error
            )
        }
        guard let bytes else { return nil }
        return try RelayIdentity(pem: String(decoding: bytes, as: UTF8.self))
    }

    /// Removes the file; one that is not there is no error.
    package func remove() throws(RelayError) {
        guard unlink(path) != 0, errno != ENOENT else { return }
        throw RelayError(.badIdentity, message: "The key for relays \(path) cannot be removed.")
    }

    /// The identity, made where there is none. Two processes that make one at the same time end with the same one.
    ///
    /// - Throws: As ``existing()``; also where it cannot be written.
    package func identity() throws(RelayError) -> RelayIdentity {
        if let identity = try existing() { return identity }
        let new = try RelayIdentity.make()
        do {
            try Array(new.pem.utf8).withUnsafeBytes { try PrivateFile.write($0, to: path, replacing: false) }
        } catch {
            throw RelayError(
                .badIdentity,
                message: "The key for relays \(path) cannot be made.",
                underlying: error
            )
        }
        return try existing() ?? new
    }
}
