import CConfinement

/// The memory of this process, which holds keys, tokens and codes.
package enum ProcessMemory {
    /// Keeps the memory out of core dumps and hides it from other processes of the user. Call this before secrets are
    /// loaded.
    ///
    /// Programs that this process starts, such as agents, are not affected.
    package static func keepPrivate() {
        // It fails only if system calls are filtered; the tool works all the same.
        _ = keep_memory_private()
    }
}
