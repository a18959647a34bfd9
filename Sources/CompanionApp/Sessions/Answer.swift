import CompanionClient
import CompanionWire
package import FoundationEssentials
import History
package import Identity
import LocalState
package import PairingAgent

/// An answer about a host, and its source.
package struct Answer<Value: Sendable>: Sendable {
    package var host: PairedHost
    package var value: Value
    package var source: AnswerSource

    package init(host: PairedHost, value: Value, source: AnswerSource = .host) {
        self.host = host
        self.value = value
        self.source = source
    }
}

/// The source of an answer about a host.
package enum AnswerSource: Sendable, Hashable {
    /// The host itself.
    case host
    /// This machine, from what it read before.
    ///
    /// - Parameter asOf: The time since when the oldest of the answer is known; nil if that is not known.
    case history(asOf: Date?)
}

/// The sources that may be asked about a host.
package enum ReadMode: Sendable {
    /// The host and, if it cannot be reached, the history.
    case hostElseHistory
    case history
}

extension HostSession {
    /// The source of the answers in this session.
    package var source: AnswerSource { stored.map { .history(asOf: $0.asOf) } ?? .host }
}

extension HostSelector {
    /// Reads from a host or, if it cannot be reached, from what the history knows of it.
    ///
    /// - Parameters:
    ///   - hasBegun: Whether a part of the answer was shown: no stored one follows it. Default: no.
    ///   - body: Reads, from the session that it gets. Runs a second time, with a session of the history, if the host gets
    ///     out of reach.
    /// - Throws: The error of the host if the history has nothing of what is asked for.
    package func read<Value: Sendable>(
        _ mode: ReadMode,
        in environment: AppEnvironment,
        hasBegun: () -> Bool = { false },
        _ body: (HostSession) async throws -> Value
    ) async throws -> Answer<Value> {
        guard mode == .hostElseHistory else {
            guard let answer = try await readHistory(in: environment, isAsked: false, body) else {
                throw AppError(
                    .nothingFound,
                    "history.nothing",
                    "this is not in the local history",
                    next: "run it without --offline"
                )
            }
            return answer
        }
        do {
            return try await withSession(environment) { Answer(host: $0.host, value: try await body($0)) }
        } catch {
            guard isOutOfReach(error), !hasBegun(),
                let answer = try await readHistory(in: environment, isAsked: true, body)
            else {
                throw error
            }
            return answer
        }
    }

    /// Reads from several hosts at the same time; what is known of those that do not answer comes from the history.
    ///
    /// - Parameter limit: How long to wait for a host.
    package func read<Value: Sendable>(
        _ hosts: [PairedHost],
        _ mode: ReadMode,
        in environment: AppEnvironment,
        limit: Duration,
        _ body: @escaping @Sendable (HostSession) async throws -> Value
    ) async throws -> [(host: PairedHost, result: Result<Answer<Value>, AppError>)] {
        var results = try await ask(hosts, in: environment, limit: limit) { one, environment in
            try await one.read(mode, in: environment, body)
        }
        for index in results.indices {
            guard mode == .hostElseHistory, case .failure(let error) = results[index].result, error.kind == .timedOut,
                let answer = try? await naming(results[index].host).read(.history, in: environment.muted(), body)
            else { continue }
            results[index].result = .success(answer)
        }
        return results
    }

    /// Runs a body with what the history knows of the host, and says how old that is.
    ///
    /// - Parameter isAsked: Whether the host was asked before, and was out of reach.
    /// - Returns: nil if the history knows nothing of what the body asks for.
    package func readHistory<Value: Sendable>(
        in environment: AppEnvironment,
        isAsked: Bool,
        _ body: (HostSession) async throws -> Value
    ) async throws -> Answer<Value>? {
        guard let host = try chosen(environment), let history = LocalHistory.ofUser(environment) else { return nil }
        let recorder = HistoryRecorder(history, host: HistoryHost(host), now: environment.now)
        guard let stored = await recorder.stored() else { return nil }
        let session = HostSession(host: host, offer: stored.client, environment: environment, stored: stored)
        let result: Result<Value, any Error>
        do {
            result = .success(try await body(session))
        } catch is StoredHost.Unknown {
            return nil
        } catch var error as AppError where [.emptyList, .nothingFound].contains(error.kind) {
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
            return nil
        }
        return Answer(host: host, value: try result.get(), source: session.source)
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
