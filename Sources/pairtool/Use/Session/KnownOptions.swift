import ArgumentParser
import CompanionApp
import CompanionClient
import CompanionWire
import FoundationEssentials
import History
import Identity
import LocalState
import NIOConcurrencyHelpers
import PairingAgent

/// Whether a command may answer from what is known of the host.
struct KnownOptions: ParsableArguments {
    @Flag(help: "Do not ask the host: show what was listed and read before.")
    var offline = false
}

extension HostOptions {
    /// Runs a body with the host or, if the host cannot be reached, with what the history knows of it.
    ///
    /// - Parameter isPlain: Whether messages are shown as they are.
    /// - Throws: The error of the host if the history has nothing of what is asked for.
    func withKnownSession(
        _ options: OutputOptions,
        _ known: KnownOptions,
        isPlain: Bool = false,
        _ body: (HostSession) async throws -> Void
    ) async throws {
        guard !known.offline else {
            guard try await withStored(options, isAsked: false, isPlain: isPlain, body) else {
                throw AppError(
                    .nothingFound,
                    "history.nothing",
                    "this is not in the local history",
                    next: "run it without --offline"
                )
            }
            return
        }
        var context = CommandContext.current
        let sink = NotingSink(base: context.stdout)
        context.stdout = sink
        do {
            try await CommandContext.$current.withValue(context) {
                try await withSession(options, isPlain: isPlain, body)
            }
        } catch {
            // Half an answer of the host is not followed by a stored one.
            guard Self.isOutOfReach(error), !sink.hasWritten,
                try await withStored(options, isAsked: true, isPlain: isPlain, body)
            else {
                throw error
            }
        }
    }

    static func isOutOfReach(_ error: any Error) -> Bool {
        if let error = error as? CompanionClientError { return [.unreachable, .timedOut].contains(error.code) }
        return (error as? AppError)?.kind == .unreachable
    }

    /// - Returns: Whether the history had an answer.
    func withStored(
        _ options: OutputOptions,
        isAsked: Bool,
        isPlain: Bool,
        _ body: (HostSession) async throws -> Void
    ) async throws -> Bool {
        var output = options.output
        output.isPlain = isPlain
        let context = output.context
        guard let host = try chosen(context), let history = LocalHistory.ofUser(output) else { return false }
        let recorder = HistoryRecorder(history, host: HistoryHost(host), now: context.now)
        return try await Self.withStored(host, recorder, output, isAsked: isAsked, body)
    }

    private static func withStored(
        _ host: PairedHost,
        _ recorder: HistoryRecorder,
        _ output: Output,
        isAsked: Bool,
        _ body: (HostSession) async throws -> Void
    ) async throws -> Bool {
        guard let stored = await recorder.stored() else { return false }
        var output = output
        output.asOf = { stored.asOf }
        let result: Result<Void, any Error>
        do {
            result = .success(
                try await body(HostSession(host: host, offer: stored.client, output: output, stored: stored))
            )
        } catch is StoredHost.Unknown {
            return false
        } catch var error as AppError where error.kind == .nothingFound {
            error.message += ", as far as this machine has read"
            result = .failure(error)
        } catch {
            result = .failure(error)
        }
        if let asOf = stored.asOf {
            let age = Duration.seconds(Int64(max(0, output.context.now().timeIntervalSince(asOf)))).roughly
            let what = "this is what was known \(age) ago."
            output.say(TerminalText.line(isAsked ? "\(host.name) cannot be reached; \(what)" : "\(host.name): \(what)"))
        } else if isAsked {
            return false
        }
        try result.get()
        return true
    }

    /// The host that the command line, the environment or the default selects, without asking it; nil if none was last
    /// reached at the address that was named.
    private func chosen(_ context: CommandContext) throws -> PairedHost? {
        let hosts = try PairedHostStore(directory: context.paths.data).load()
        let selected = try PairedHostSelection.selectKnown(host ?? context.hostVariable, in: hosts)
        if let selected { try require?.check(selected) }
        return selected
    }
}

/// Passes text on, and notes that there was some.
private final class NotingSink: TextSink {
    private let base: any TextSink
    private let wrote = NIOLockedValueBox(false)

    var hasWritten: Bool { wrote.withLockedValue(\.self) }

    init(base: any TextSink) {
        self.base = base
    }

    func write(_ bytes: UnsafeRawBufferPointer) {
        wrote.withLockedValue { $0 = true }
        base.write(bytes)
    }
}
