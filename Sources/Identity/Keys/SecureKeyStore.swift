internal import CSodium
internal import Glibc
internal import LocalState

/// Stores the Ed25519 key pair of a device or host in a file of its own, readable only by its owner.
///
/// The file is 72 bytes: an 8-byte mark, the 32-byte seed, the 32-byte public key. The public key serves to detect a
/// damaged seed. The seed is read into locked memory and never leaves this type.
package struct SecureKeyStore: Sendable {
    /// The path of the key file.
    package let path: String

    private static let mark: [UInt8] = Array("PTKEY01\n".utf8)
    private static let seedSize = Int(crypto_sign_SEEDBYTES)
    private static let publicSize = Int(crypto_sign_PUBLICKEYBYTES)
    private static var fileSize: Int { mark.count + seedSize + publicSize }

    /// - Parameters:
    ///   - directory: The tool's data directory; created with mode 0700 together with the first key.
    ///   - name: The file's name. Default: `identity.key`, the device's own key.
    package init(directory: String, name: String = "identity.key") {
        path = directory + "/" + name
    }

    /// The identity of this device; creates a key pair at first use.
    ///
    /// If two processes create a key at the same time, both get the same one.
    ///
    /// - Throws: ``KeyStoreError``.
    package func identity() throws(KeyStoreError) -> DeviceIdentity {
        if let identity = try load() { return identity }
        try create()
        guard let identity = try load() else {
            throw KeyStoreError(.io, message: "the key file \(path) was removed while it was being made")
        }
        return identity
    }

    /// The identity, or nil if no key has been created yet.
    ///
    /// - Throws: ``KeyStoreError``.
    package func load() throws(KeyStoreError) -> DeviceIdentity? {
        try withKeyPair { identity, _ in identity }
    }

    /// Checks that the file is not damaged. Ignores its permissions; a missing file is no error.
    ///
    /// - Throws: ``KeyStoreError``.
    package func check() throws(KeyStoreError) {
        _ = try withKeyPair(ofAnyMode: true) { identity, _ in identity }
    }

    /// Signs a message (Ed25519, RFC 8032) with the private key of ``identity()``.
    ///
    /// - Returns: 64 bytes.
    /// - Throws: ``KeyStoreError``, also if no key has been created yet.
    package func sign(_ message: [UInt8]) throws(KeyStoreError) -> [UInt8] {
        let signature: [UInt8]? = try withKeyPair { _, secretKey in
            var signature = [UInt8](repeating: 0, count: Int(crypto_sign_BYTES))
            let key = secretKey.assumingMemoryBound(to: UInt8.self).baseAddress!
            crypto_sign_detached(&signature, nil, message, UInt64(message.count), key)
            return signature
        }
        guard let signature else {
            throw KeyStoreError(
                .missing,
                message: "there is no key at \(path) yet",
                remedy: "pair with a host first: pairtool pair"
            )
        }
        return signature
    }

    /// Runs a body with the key pair; the secret key is in libsodium's format. Returns nil if no key has been created
    /// yet.
    ///
    /// - Parameter ofAnyMode: Whether to accept a file that other users may access; only to check whether it is
    ///   damaged. Default: false.
    private func withKeyPair<R>(
        ofAnyMode: Bool = false,
        _ body: (DeviceIdentity, UnsafeRawBufferPointer) -> R
    ) throws(KeyStoreError) -> R? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard descriptor >= 0 else {
            if errno == ENOENT { return nil }
            throw KeyStoreError(.io, message: "the key file \(path) cannot be opened: \(PrivateFile.systemMessage())")
        }
        defer { close(descriptor) }
        do {
            try checkPermissions(of: descriptor)
        } catch {
            guard ofAnyMode, error.code == .permissions else { throw error }
        }
        var secret = try SecretBytes(count: Self.fileSize + 1)
        let size = secret.withUnsafeMutableBytes { buffer in
            while true {
                let size = read(descriptor, buffer.baseAddress!, buffer.count)
                if size >= 0 || errno != EINTR { return size }
            }
        }
        guard size >= 0 else {
            throw KeyStoreError(.io, message: "the key file \(path) cannot be read: \(PrivateFile.systemMessage())")
        }
        var expanded = try SecretBytes(count: Int(crypto_sign_SECRETKEYBYTES))
        guard size == Self.fileSize, let publicKey = Self.verifiedPublicKey(in: secret, expanded: &expanded) else {
            throw KeyStoreError(
                .damaged,
                message: "the key file \(path) is damaged",
                remedy: "restore it from a backup, or move it away and pair again: mv '\(path)' '\(path).damaged'"
            )
        }
        return expanded.withUnsafeBytes { body(DeviceIdentity(publicKey: publicKey), $0) }
    }

    private func checkPermissions(of descriptor: Int32) throws(KeyStoreError) {
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw KeyStoreError(.damaged, message: "\(path) is not a file", remedy: "move it away and try again")
        }
        guard status.st_uid == geteuid() else {
            throw KeyStoreError(
                .permissions,
                message: "the key file \(path) belongs to another user",
                remedy: "check who put it there, then: chown $(id -u) '\(path)'"
            )
        }
        guard status.st_mode & 0o077 == 0 else {
            throw KeyStoreError(
                .permissions,
                message: "the key file \(path) can be read or changed by other users",
                remedy: "if nobody else has used it: chmod 600 '\(path)'; otherwise move it away and pair again"
            )
        }
    }

    /// The public key in the file, if it matches the seed.
    private static func verifiedPublicKey(
        in file: borrowing SecretBytes,
        expanded: inout SecretBytes
    ) -> [UInt8]? {
        file.withUnsafeBytes { bytes in
            guard bytes.prefix(mark.count).elementsEqual(mark) else { return nil }
            var derived = [UInt8](repeating: 0, count: publicSize)
            let seed = bytes.baseAddress! + mark.count
            let result = expanded.withUnsafeMutableBytes { secretKey in
                crypto_sign_seed_keypair(
                    &derived,
                    secretKey.assumingMemoryBound(to: UInt8.self).baseAddress!,
                    seed.assumingMemoryBound(to: UInt8.self)
                )
            }
            guard result == 0, sodium_memcmp(derived, seed + seedSize, publicSize) == 0 else { return nil }
            return derived
        }
    }

    private func create() throws(KeyStoreError) {
        var file = try SecretBytes(count: Self.fileSize)
        var expanded = try SecretBytes(count: Int(crypto_sign_SECRETKEYBYTES))
        let mark = Self.mark
        let result = file.withUnsafeMutableBytes { bytes in
            bytes.copyBytes(from: mark)
            let seed = bytes.assumingMemoryBound(to: UInt8.self).baseAddress! + mark.count
            randombytes_buf(seed, Self.seedSize)
            return expanded.withUnsafeMutableBytes { secretKey in
                let secretKey = secretKey.assumingMemoryBound(to: UInt8.self).baseAddress!
                return crypto_sign_seed_keypair(seed + Self.seedSize, secretKey, seed)
            }
        }
        guard result == 0 else { throw KeyStoreError(.library, message: "libsodium could not make a key pair") }
        do {
            try file.withUnsafeBytes { bytes in
                Result { try PrivateFile.write(bytes, to: path, replacing: false) }
            }.get()
        } catch {
            throw KeyStoreError(.io, message: "the key file \(path) cannot be written: \(error)")
        }
    }
}
