import CAvahiCore
import Glibc

/// The embedded engine's library, which is opened when it is first needed, and stays open.
final class AvahiCore: @unchecked Sendable {
    // Safe because
    // - the table is written before the object is published, and never again,
    // - its pointers lead to code of a library that is never closed.

    private let table: AvahiCoreFunctions

    private static let loaded = Result<AvahiCore, DiscoveryError> { () throws(DiscoveryError) in try AvahiCore() }

    /// - Throws: ``DiscoveryError/Code/engineUnavailable``.
    static func functions() throws(DiscoveryError) -> AvahiCoreFunctions {
        try loaded.get().table
    }

    private init() throws(DiscoveryError) {
        // The library's file with its ABI version, of the Debian package libavahi-core7. For the flags see the comment in
        // CAvahiCore's shim.h.
        let file = "libavahi-core.so.7"
        guard let library = dlopen(file, RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND) else {
            let reason = dlerror().map { String(cString: $0) } ?? file
            throw DiscoveryError(
                .engineUnavailable,
                "the embedded engine's library, of the package libavahi-core7, cannot be loaded: \(reason)"
            )
        }
        let table = UnsafeMutablePointer<AvahiCoreFunctions>.allocate(capacity: 1)
        defer { table.deallocate() }
        if let missing = avahi_core_functions_load(table, library) {
            let name = String(cString: missing)
            throw DiscoveryError(.engineUnavailable, "\(file) has no function \(name): its version does not fit")
        }
        self.table = table.move()
    }
}
