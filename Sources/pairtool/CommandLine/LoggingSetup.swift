import CompanionWire
import FoundationEssentials
import Logging
import Terminal

/// The loggers that commands pass to the modules.
enum LoggingSetup {
    /// A logger that writes to standard error, from the level that `PAIRTOOL_LOG` names.
    ///
    /// - Parameter usual: The level without `PAIRTOOL_LOG`. Default: nil, nothing is written.
    static func logger(
        _ label: String,
        usual: Logger.Level? = nil,
        context: TerminalContext = .current
    ) -> Logger {
        let named = context.environment["PAIRTOOL_LOG"].flatMap { Logger.Level(rawValue: $0.lowercased()) }
        guard let level = named ?? usual else { return Logger(label: label) { _ in SwiftLogNoOpLogHandler() } }
        var logger = Logger(label: label) { TerminalLogHandler(label: $0, context: context) }
        logger.logLevel = level
        return logger
    }
}

/// Writes one line per event to standard error. Metadata may hold text from peers, so each line is sanitised.
struct TerminalLogHandler: LogHandler {
    let label: String
    let context: TerminalContext
    var logLevel = Logger.Level.info
    var metadata = Logger.Metadata()

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        let all = metadata.merging(event.metadata ?? [:]) { $1 }
        let pairs = all.sorted { $0.key < $1.key }.map { " \($0.key)=\($0.value)" }.joined()
        let time = context.now().formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
        context.writeMessage(TerminalText.line("\(time) \(event.level) \(label): \(event.message)\(pairs)") + "\n")
    }
}
