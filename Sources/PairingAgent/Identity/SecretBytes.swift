internal import CSodium

/// Bytes that must not leak: in guarded memory that is locked, never copied, and wiped when it is freed.
struct SecretBytes: ~Copyable {
    let count: Int
    private let pointer: UnsafeMutableRawPointer

    /// - Throws: ``KeyStoreError`` when the system's limit on locked memory is reached.
    init(count: Int) throws(KeyStoreError) {
        try Sodium.requireReady()
        guard let pointer = sodium_malloc(count) else {
            throw KeyStoreError(.library, "no locked memory is left for a key (see `ulimit -l`)")
        }
        self.count = count
        self.pointer = pointer
    }

    deinit {
        sodium_free(pointer)
    }

    borrowing func withUnsafeBytes<R>(_ body: (UnsafeRawBufferPointer) -> R) -> R {
        body(UnsafeRawBufferPointer(start: pointer, count: count))
    }

    mutating func withUnsafeMutableBytes<R>(_ body: (UnsafeMutableRawBufferPointer) -> R) -> R {
        body(UnsafeMutableRawBufferPointer(start: pointer, count: count))
    }
}
