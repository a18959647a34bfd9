internal import CSodium

/// Bytes that must not leak: in guarded and locked memory, never copied, and wiped when it is freed.
package struct SecretBytes: ~Copyable {
    /// The number of bytes, which never changes.
    package let count: Int
    private let pointer: UnsafeMutableRawPointer

    /// Allocates bytes. Their content is not defined until they are written.
    ///
    /// - Throws: ``KeyStoreError`` when the system's limit on locked memory is reached.
    package init(count: Int) throws(KeyStoreError) {
        try Sodium.requireReady()
        guard let pointer = sodium_malloc(count) else {
            throw KeyStoreError(.library, message: "no locked memory is left for a key (see `ulimit -l`)")
        }
        self.count = count
        self.pointer = pointer
    }

    /// Copies bytes. The caller has to wipe the original.
    ///
    /// - Throws: ``KeyStoreError`` when the system's limit on locked memory is reached.
    package init(copying bytes: some Collection<UInt8>) throws(KeyStoreError) {
        try self.init(count: bytes.count)
        withUnsafeMutableBytes { $0.copyBytes(from: bytes) }
    }

    deinit {
        sodium_free(pointer)
    }

    /// Gives a body the bytes to read. The pointer is valid only during the call.
    package borrowing func withUnsafeBytes<R>(_ body: (UnsafeRawBufferPointer) -> R) -> R {
        body(UnsafeRawBufferPointer(start: pointer, count: count))
    }

    /// Gives a body the bytes to read and change. The pointer is valid only during the call.
    package mutating func withUnsafeMutableBytes<R>(_ body: (UnsafeMutableRawBufferPointer) -> R) -> R {
        body(UnsafeMutableRawBufferPointer(start: pointer, count: count))
    }

    /// Compares in a time that depends only on the lengths.
    package borrowing func isEqual(to bytes: [UInt8]) -> Bool {
        bytes.count == count && sodium_memcmp(pointer, bytes, count) == 0
    }
}

/// Safe because
/// - the memory has one owner (the type is not copyable) and is freed with it,
/// - only `mutating` functions write to it, and Swift gives these exclusive access,
/// - `count` and `pointer` never change.
extension SecretBytes: @unchecked Sendable {}
