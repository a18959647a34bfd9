import CAvahiCore
import Logging
import NIOConcurrencyHelpers

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

private func avahiLogged(_ level: AvahiLogLevel, _ text: UnsafePointer<CChar>?) {
    guard let text, let logger = AvahiLog.logger.withLockedValue({ $0 }) else { return }
    let isWarning = level.rawValue <= AVAHI_LOG_WARN.rawValue
    logger.log(level: isWarning ? .debug : .trace, "\(String(cString: text))", metadata: ["source": "avahi"])
}
