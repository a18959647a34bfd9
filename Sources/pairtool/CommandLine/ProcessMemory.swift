import CConfinement

/// The memory of this process, which holds keys, tokens and codes.
enum ProcessMemory {
    /// Keeps it out of core dumps, and from the other processes of its user. To be called before there are secrets.
    ///
    /// Programs that are started, agents among them, are not affected.
    static func keepPrivate() {
        // It cannot fail, but where somebody filters system calls: that is no reason not to work.
        _ = keep_memory_private()
    }
}
