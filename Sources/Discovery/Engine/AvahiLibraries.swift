import CAvahi
import CAvahiCore
import Glibc

/// A library of Avahi that is opened when it is first needed, and stays open.
final class AvahiLibrary<Functions>: @unchecked Sendable {
    // Safe because
    // - the table is written before the object is published, and never again,
    // - its pointers lead to code of a library that is never closed.

    let functions: Functions

    /// - Parameters:
    ///   - file: The library's file with its ABI version, such as `libavahi-core.so.7`.
    ///   - package: The Debian package that it comes in.
    ///   - load: Fills a table from an open library; returns the name of a missing function, or NULL.
    /// - Throws: ``DiscoveryError/Code/engineUnavailable``.
    fileprivate init(
        file: String,
        package: String,
        load: (UnsafeMutablePointer<Functions>, UnsafeMutableRawPointer) -> UnsafePointer<CChar>?
    ) throws(DiscoveryError) {
        // RTLD_LOCAL is the point: see the comment in CAvahi's shim.h.
        guard let library = dlopen(file, RTLD_NOW | RTLD_LOCAL) else {
            throw DiscoveryError(.engineUnavailable, "\(file) cannot be loaded (install the package \(package))")
        }
        let table = UnsafeMutablePointer<Functions>.allocate(capacity: 1)
        defer { table.deallocate() }
        if let missing = load(table, library) {
            let name = String(cString: missing)
            throw DiscoveryError(.engineUnavailable, "\(file) has no function \(name): its version does not fit")
        }
        functions = table.move()
    }
}

/// Avahi's libraries; those that were asked for once are kept.
enum AvahiLibraries {
    private static let loadedClient = Result<AvahiLibrary<AvahiClientFunctions>, DiscoveryError> {
        () throws(DiscoveryError) in
        try AvahiLibrary(file: "libavahi-client.so.3", package: "libavahi-client3", load: avahi_client_functions_load)
    }

    private static let loadedCore = Result<AvahiLibrary<AvahiCoreFunctions>, DiscoveryError> {
        () throws(DiscoveryError) in
        try AvahiLibrary(file: "libavahi-core.so.7", package: "libavahi-core7", load: avahi_core_functions_load)
    }

    /// Loads the daemon's client library meanwhile.
    static func preloadClient() {
        // Nothing of concurrency has to be set up for this.
        var thread = pthread_t()
        if pthread_create(&thread, nil, loadClient, nil) == 0 { pthread_detach(thread) }
    }

    /// The daemon's client library.
    static func client() throws(DiscoveryError) -> AvahiLibrary<AvahiClientFunctions> {
        try loadedClient.get()
    }

    /// The embedded engine's library.
    static func core() throws(DiscoveryError) -> AvahiLibrary<AvahiCoreFunctions> {
        try loadedCore.get()
    }
}

private func loadClient(_: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    _ = try? AvahiLibraries.client()
    return nil
}
