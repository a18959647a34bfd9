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

extension HostSelector {
    /// Runs a body with the host or, if the host cannot be reached, with what the history knows of it.
    ///
    /// - Parameter body: Writes to the output that it gets, which marks rows of the history.
    /// - Throws: The error of the host if the history has nothing of what is asked for.
    func withKnownSession(
        _ output: Output,
        in environment: AppEnvironment,
        known: KnownOptions,
        _ body: (HostSession, Output) async throws -> Void
    ) async throws {
        guard !known.offline else {
            guard try await withStored(output, in: environment, isAsked: false, body) else {
                throw AppError(
                    .nothingFound,
                    "history.nothing",
                    "this is not in the local history",
                    next: "run it without --offline"
                )
            }
            return
        }
        let sink = NotingSink(base: output.context.stdout)
        var noting = output
        noting.context.stdout = sink
        do {
            try await withSession(environment) { try await body($0, noting) }
        } catch {
            // Half an answer of the host is not followed by a stored one.
            guard isOutOfReach(error), !sink.hasWritten,
                try await withStored(output, in: environment, isAsked: true, body)
            else {
                throw error
            }
        }
    }

    /// Asks hosts at the same time; what is known of those that do not answer comes from the history.
    func askKnown<Value: Sendable>(
        _ hosts: [PairedHost],
        all: AllHostsOptions,
        known: KnownOptions,
        on output: Output,
        _ body: @escaping @Sendable (HostSession) async throws -> Value
    ) async throws -> HostAnswers<Value> {
        let environment = output.environment()
        var answers = HostAnswers<Value>()
        for (host, result) in try await ask(
            hosts,
            in: environment,
            limit: all.limit ?? environment.hostLimit,
            { one, environment in try await one.known(output, in: environment, known: known, body) }
        ) {
            var result = result
            if case .failure(let error) = result, error.kind == .timedOut, !known.offline {
                var stored = known
                stored.offline = true
                if let answer = try? await naming(host).known(output, in: environment.muted(), known: stored, body) {
                    result = .success(answer)
                }
            }
            switch result {
            case .success(let answer): answers.answers.append(answer)
            case .failure(let error) where error.kind == .nothingFound: answers.emptyCount += 1
            case .failure(let error): answers.failures.append((host, error))
            }
        }
        return answers
    }

    private func known<Value: Sendable>(
        _ output: Output,
        in environment: AppEnvironment,
        known: KnownOptions,
        _ body: @Sendable (HostSession) async throws -> Value
    ) async throws -> HostAnswers<Value>.Answer {
        var answer: HostAnswers<Value>.Answer?
        try await withKnownSession(output, in: environment, known: known) { session, _ in
            let value = try await body(session)
            answer = .init(
                host: session.host,
                value: value,
                isStored: session.stored != nil,
                asOf: session.stored?.asOf
            )
        }
        guard let answer else { throw CancellationError() }
        return answer
    }

    /// - Returns: Whether the history had an answer.
    func withStored(
        _ output: Output,
        in environment: AppEnvironment,
        isAsked: Bool,
        _ body: (HostSession, Output) async throws -> Void
    ) async throws -> Bool {
        guard let host = try chosen(environment), let history = LocalHistory.ofUser(environment) else { return false }
        let recorder = HistoryRecorder(history, host: HistoryHost(host), now: environment.now)
        guard let stored = await recorder.stored() else { return false }
        var output = output
        output.asOf = { stored.asOf }
        let session = HostSession(host: host, offer: stored.client, environment: environment, stored: stored)
        let result: Result<Void, any Error>
        do {
            result = .success(try await body(session, output))
        } catch is StoredHost.Unknown {
            return false
        } catch var error as AppError where error.kind == .nothingFound {
            error.message += ", as far as this machine has read"
            result = .failure(error)
        } catch {
            result = .failure(error)
        }
        if let asOf = stored.asOf {
            let age = Duration.seconds(Int64(max(0, environment.now().timeIntervalSince(asOf)))).roughly
            let what = "this is what was known \(age) ago."
            environment.interaction.say(
                TerminalText.line(isAsked ? "\(host.name) cannot be reached; \(what)" : "\(host.name): \(what)")
            )
        } else if isAsked {
            return false
        }
        try result.get()
        return true
    }

    /// The host that the command line, the environment or the default selects, without asking it; nil if none was last
    /// reached at the address that was named.
    private func chosen(_ environment: AppEnvironment) throws -> PairedHost? {
        let hosts = try PairedHostStore(directory: environment.paths.data).load()
        let selected = try PairedHostSelection.selectKnown(name ?? environment.hostVariable, in: hosts)
        if let selected { try required?.check(selected) }
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
