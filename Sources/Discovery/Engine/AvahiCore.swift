import CAvahiCore
import Glibc
import Logging
import NIOConcurrencyHelpers

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
                message: "the embedded engine's library (package libavahi-core7) cannot be loaded: \(reason)"
            )
        }
        let table = UnsafeMutablePointer<AvahiCoreFunctions>.allocate(capacity: 1)
        defer { table.deallocate() }
        if let missing = avahi_core_functions_load(table, library) {
            let name = String(cString: missing)
            throw DiscoveryError(
                .engineUnavailable,
                message: "\(file) has no function \(name): its version is not supported"
            )
        }
        self.table = table.move()
    }
}

/// Takes avahi-core's own log, which is one for the process and goes to standard error by default.
enum AvahiLog {
    fileprivate static let logger = NIOLockedValueBox<Logger?>(nil)

    /// Sends the log to `logger`: errors and warnings as debug messages (what matters to a user comes as an error of
    /// the engine), everything else as trace messages. The last caller wins.
    static func redirect(_ avahi: AvahiCoreFunctions, to logger: Logger) {
        self.logger.withLockedValue { $0 = logger }
        avahi.avahi_set_log_function(avahiLogged)
    }
}

private func avahiLogged(_ level: AvahiLogLevel, text: UnsafePointer<CChar>?) {
    guard let text, let logger = AvahiLog.logger.withLockedValue({ $0 }) else { return }
    let isWarning = level.rawValue <= AVAHI_LOG_WARN.rawValue
    logger.log(level: isWarning ? .debug : .trace, "\(String(cString: text))", metadata: ["source": "avahi"])
}
