import Logging

/// The loggers that commands hand to the modules: silent, unless `PAIRTOOL_LOG` names a level.
enum LoggingSetup {
    static func logger(_ label: String, context: CommandContext = .current) -> Logger {
        guard let level = context.environment["PAIRTOOL_LOG"].flatMap({ Logger.Level(rawValue: $0.lowercased()) })
        else {
            return Logger(label: label) { _ in SwiftLogNoOpLogHandler() }
        }
        var logger = Logger(label: label) { StreamLogHandler.standardError(label: $0) }
        logger.logLevel = level
        return logger
    }
}
