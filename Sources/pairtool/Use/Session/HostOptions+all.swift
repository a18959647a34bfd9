import ArgumentParser
import CompanionApp
import CompanionClient
import CompanionWire
import Identity
import LocalState
import PairingAgent

extension HostOptions {
    /// The paired hosts of families with a capability.
    ///
    /// - Parameters:
    ///   - matter: The capability, such as `projects`.
    ///   - isOffered: Whether a client of this type has it.
    /// - Throws: ``AppError`` if there is none.
    func pairedHosts(_ matter: String, _ environment: AppEnvironment, _ isOffered: (Any.Type) -> Bool) throws
        -> [PairedHost]
    {
        let hosts = try PairedHostStore(directory: environment.paths.data).load()
        // Throws the error for "no host is paired".
        if hosts.hosts.isEmpty { _ = try PairedHostSelection.select(nil, in: hosts) }
        let able = hosts.hosts.filter { $0.family.behavior.clients(of: $0).contains(where: isOffered) }
        guard !able.isEmpty else {
            throw AppError(
                .failed,
                "host.cannot",
                "none of the paired hosts offers \(matter)",
                next: "see what they can do: pairtool capabilities"
            )
        }
        return able
    }

    /// The same options for one of several hosts.
    func naming(_ host: PairedHost) -> HostOptions {
        var options = self
        options.host = host.id
        return options
    }

    /// The options of a command that names a host and nothing else.
    static func naming(_ host: PairedHost) throws -> HostOptions {
        // An id that begins with “-” would be taken for an option.
        try HostOptions.parse([]).naming(host)
    }

    /// Asks hosts at the same time. Nobody is asked at the terminal meanwhile: several questions would share it.
    ///
    /// - Parameters:
    ///   - limit: How long to wait for a host.
    ///   - body: Gets the options that name the host, and its surroundings.
    /// - Returns: The answers or failures, in the order of the hosts.
    func ask<Value: Sendable>(
        _ hosts: [PairedHost],
        _ environment: AppEnvironment,
        limit: Duration,
        _ body: @escaping @Sendable (HostOptions, AppEnvironment) async throws -> Value
    ) async throws -> [(host: PairedHost, result: Result<Value, AppError>)] {
        let environment = environment.muted()
        let results = await withTaskGroup(of: (Int, Result<Value, AppError>).self) { group in
            for (index, host) in hosts.enumerated() {
                let options = naming(host)
                group.addTask {
                    do {
                        let value = try await withTimeLimit(limit) { try await body(options, environment) }
                        guard let value else { return (index, .failure(.late(host, limit))) }
                        return (index, .success(value))
                    } catch {
                        return (index, .failure(AppError(describing: error)))
                    }
                }
            }
            return await group.reduce(into: [Int: Result<Value, AppError>]()) { $0[$1.0] = $1.1 }
        }
        try Task.checkCancellation()
        return hosts.indices.compactMap { index in results[index].map { (hosts[index], $0) } }
    }

    /// Asks hosts at the same time; what is known of those that do not answer comes from the history.
    func askKnown<Value: Sendable>(
        _ hosts: [PairedHost],
        _ all: AllHostsOptions,
        _ known: KnownOptions,
        _ output: Output,
        _ body: @escaping @Sendable (HostSession) async throws -> Value
    ) async throws -> HostAnswers<Value> {
        let environment = output.environment()
        var answers = HostAnswers<Value>()
        for (host, result) in try await ask(
            hosts,
            environment,
            limit: all.limit ?? environment.hostLimit,
            { one, environment in try await one.known(output, in: environment, known, body) }
        ) {
            var result = result
            if case .failure(let error) = result, error.kind == .timedOut, !known.offline {
                var stored = known
                stored.offline = true
                if let answer = try? await naming(host).known(output, in: environment.muted(), stored, body) {
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
        _ known: KnownOptions,
        _ body: @Sendable (HostSession) async throws -> Value
    ) async throws -> HostAnswers<Value>.Answer {
        var answer: HostAnswers<Value>.Answer?
        try await withKnownSession(output, in: environment, known) { session, _ in
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

    /// Follows hosts at the same time until the task is cancelled. A host that cannot be reached is looked for again
    /// and again; one that fails otherwise is left out.
    ///
    /// - Parameter body: Gets the options that name the host, and its surroundings. Returns when it has lost the host.
    /// - Throws: The worst error when no host is left.
    func follow(
        _ hosts: [PairedHost],
        _ environment: AppEnvironment,
        _ body: @escaping @Sendable (HostOptions, PairedHost, AppEnvironment) async throws -> Void
    ) async throws {
        let environment = environment.muted()
        let failures = await withTaskGroup(of: AppError?.self) { group in
            for host in hosts {
                let options = naming(host)
                group.addTask {
                    await options.follow(host, environment, body)
                }
            }
            return await group.reduce(into: [AppError]()) { if let error = $1 { $0.append(error) } }
        }
        try Task.checkCancellation()
        if let worst = failures.map(\.kind).max() { throw ExitRequest(worst) }
    }

    /// - Returns: The error that keeps the host from being followed; nil when the task was cancelled.
    private func follow(
        _ host: PairedHost,
        _ environment: AppEnvironment,
        _ body: @Sendable (HostOptions, PairedHost, AppEnvironment) async throws -> Void
    ) async -> AppError? {
        var wasLost = false
        while !Task.isCancelled {
            do {
                try await body(self, host, environment)
                wasLost = false
            } catch {
                guard !Task.isCancelled else { break }
                let error = AppError(describing: error)
                let isAway = [.unreachable, .timedOut].contains(error.kind)
                if !isAway || !wasLost { environment.interaction.warn(error.naming(host)) }
                guard isAway else { return error }
                wasLost = true
                try? await ContinuousClock().sleep(for: Reconnection.pause)
            }
        }
        return nil
    }
}
