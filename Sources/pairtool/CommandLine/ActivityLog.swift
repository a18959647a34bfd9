import CompanionClient
import CompanionWire
import Dispatch
import FoundationEssentials
import Glibc
import LocalState
import NIOConcurrencyHelpers

/// What commands did of late, for `pairtool diagnostics`: how requests to hosts went, and which commands failed. It has
/// times, ids of hosts and words of pairtool, no text of others. Nothing fails because of it.
struct ActivityLog: Sendable {
    enum Event: Sendable, Hashable {
        case request(hostID: String, milliseconds: Int, RequestOutcome.Kind)
        /// - Parameter code: As in `--json`.
        case failure(command: String, status: Int32, code: String)
    }

    struct Entry: Sendable, Hashable {
        var at: Date
        var event: Event
    }

    /// The most bytes; the older half is removed then.
    static let sizeLimit = 128 << 10

    private let path: String

    init(_ context: CommandContext) {
        path = "\(context.paths.state)/activity.log"
    }

    /// Adds entries. Blocks.
    func add(_ entries: [Entry]) {
        // The directory comes with the first thing that is kept.
        guard !entries.isEmpty, FileStatus(PrivateFile.directory(of: path)) != nil else { return }
        let flags = O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW
        let descriptor = open(path, flags, 0o600)
        guard descriptor >= 0 else { return }
        // One write: lines of several processes do not mix.
        let lines = Array(entries.map(\.line).joined().utf8)
        _ = write(descriptor, lines, lines.count)
        close(descriptor)
        guard let size = FileStatus(path)?.size, size > Self.sizeLimit,
            let bytes = try? PrivateFile.read(path, limit: 4 * Self.sizeLimit),
            let cut = bytes[(bytes.count / 2)...].firstIndex(of: UInt8(ascii: "\n"))
        else { return }
        bytes[(cut + 1)...].withUnsafeBytes { try? PrivateFile.write($0, to: path, isDurable: false) }
    }

    /// The entries since a time, oldest first. Blocks.
    func entries(since start: Date) -> [Entry] {
        guard let bytes = try? PrivateFile.read(path, limit: 4 * Self.sizeLimit) else { return [] }
        return String(decoding: bytes, as: UTF8.self).parts("\n").compactMap(Entry.init).filter { $0.at >= start }
    }

    /// Runs a body whose requests to a host are noted.
    static func noting<R>(_ hostID: String, _ context: CommandContext, _ body: () async throws -> R) async throws -> R {
        let log = ActivityLog(context)
        let kept = NIOLockedValueBox<[Entry]>([])
        let report = RequestOutcome.Report { outcome in
            let milliseconds = Int(outcome.duration / .milliseconds(1))
            let event = Event.request(hostID: hostID, milliseconds: milliseconds, outcome.kind)
            let full: [Entry]? = kept.withLockedValue { entries in
                entries.append(Entry(at: context.now(), event: event))
                guard entries.count >= 64 else { return nil }
                defer { entries = [] }
                return entries
            }
            if let full { DispatchQueue.global().async { log.add(full) } }
        }
        let result: Result<R, any Error>
        do {
            result = .success(try await RequestOutcome.$report.withValue(report) { try await body() })
        } catch {
            result = .failure(error)
        }
        let rest = kept.withLockedValue(\.self)
        if !rest.isEmpty { try? await BlockingCall.run { log.add(rest) } }
        return try result.get()
    }
}

extension ActivityLog.Entry {
    /// `1700000000000 request 0123456789abcdef 12 answered`, `1700000000000 failure send 10 host.unreachable`
    fileprivate var line: String {
        let time = Int64(at.timeIntervalSince1970 * 1000)
        return switch event {
        case .request(let id, let milliseconds, let kind): "\(time) request \(id) \(milliseconds) \(kind.rawValue)\n"
        case .failure(let command, let status, let code): "\(time) failure \(command) \(status) \(code)\n"
        }
    }

    fileprivate init?(_ line: Substring) {
        let words = line.parts(" ")
        guard words.count == 5, let time = Int64(words[0]) else { return nil }
        at = Date(timeIntervalSince1970: Double(time) / 1000)
        if words[1].isSame(as: "request"), let duration = Int(words[3]),
            let kind = RequestOutcome.Kind(rawValue: String(words[4]))
        {
            event = .request(hostID: String(words[2]), milliseconds: duration, kind)
        } else if words[1].isSame(as: "failure"), let status = Int32(words[3]) {
            event = .failure(command: String(words[2]), status: status, code: String(words[4]))
        } else {
            return nil
        }
    }
}
