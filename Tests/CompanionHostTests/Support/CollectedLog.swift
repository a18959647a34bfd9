import Logging
import NIOConcurrencyHelpers

/// Keeps all that a logger is told, of every level.
final class CollectedLog: Sendable {
    struct Line: Sendable, CustomStringConvertible {
        var message: String
        var metadata: [String: String]

        var category: String? { metadata["category"] }
        var outcome: String? { metadata["outcome"] }
        var code: String? { metadata["code"] }
        var device: String? { metadata["device"] }
        var milliseconds: Double? { metadata["ms"].flatMap(Double.init) }
        var description: String { "\(message) \(metadata.sorted { $0.key < $1.key })" }
    }

    private let all = NIOLockedValueBox<[Line]>([])

    var lines: [Line] { all.withLockedValue { $0 } }

    /// The lines of a category and an outcome.
    func lines(_ category: String, _ outcome: String) -> [Line] {
        lines.filter { $0.category == category && $0.outcome == outcome }
    }

    var logger: Logger {
        var logger = Logger(label: "test") { [all] _ in Handler(lines: all) }
        logger.logLevel = .trace
        return logger
    }

    private struct Handler: LogHandler {
        let lines: NIOLockedValueBox<[Line]>
        var logLevel = Logger.Level.trace
        var metadata = Logger.Metadata()

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            let all = metadata.merging(event.metadata ?? [:]) { $1 }
            let line = Line(message: "\(event.message)", metadata: all.mapValues { "\($0)" })
            lines.withLockedValue { $0.append(line) }
        }
    }
}
