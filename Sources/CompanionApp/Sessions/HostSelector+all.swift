import CompanionClient
import CompanionWire
package import Identity
import LocalState
package import PairingAgent

extension HostSelector {
    /// The paired hosts that have a capability.
    ///
    /// - Parameter matter: What the command is about, such as `projects`, for the error.
    /// - Throws: ``AppError`` if there is none.
    package func pairedHosts(
        with capability: Capability,
        for matter: String,
        in environment: AppEnvironment
    ) throws -> [PairedHost] {
        let hosts = try PairedHostStore(directory: environment.paths.data).load()
        // Throws the error for "no host is paired".
        if hosts.hosts.isEmpty { _ = try PairedHostSelection.select(nil, in: hosts) }
        let able = hosts.hosts.filter { $0.offers(capability) }
        guard !able.isEmpty else {
            throw AppError(
                .failed,
                "host.cannot",
                "none of the paired hosts offers \(matter)",
                next: "see what they can do: pairtool status"
            )
        }
        return able
    }

    /// The same for one of several hosts.
    package func naming(_ host: PairedHost) -> HostSelector {
        var selector = self
        selector.name = host.id
        return selector
    }

    /// Asks hosts at the same time. Nobody is asked at the terminal meanwhile: several questions would share it.
    ///
    /// - Parameters:
    ///   - limit: How long to wait for a host.
    ///   - body: Gets the selector of the host, and its surroundings.
    /// - Returns: The answers or failures, in the order of the hosts.
    package func ask<Value: Sendable>(
        _ hosts: [PairedHost],
        in environment: AppEnvironment,
        limit: Duration,
        _ body: @escaping @Sendable (HostSelector, AppEnvironment) async throws -> Value
    ) async throws -> [(host: PairedHost, result: Result<Value, AppError>)] {
        let environment = environment.muted()
        let results = await withTaskGroup(of: (Int, Result<Value, AppError>).self) { group in
            for (index, host) in hosts.enumerated() {
                let selector = naming(host)
                group.addTask {
                    do {
                        let value = try await withTimeLimit(limit) { try await body(selector, environment) }
                        guard let value else { return (index, .failure(.late(host, within: limit))) }
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

    /// Follows hosts at the same time until the task is cancelled. A host that cannot be reached is looked for again
    /// and again; one that fails otherwise is left out.
    ///
    /// - Parameter body: Gets the selector of the host, and its surroundings. Returns when it has lost the host.
    /// - Returns: The worst kind of error, when no host is left.
    package func follow(
        _ hosts: [PairedHost],
        in environment: AppEnvironment,
        _ body: @escaping @Sendable (HostSelector, PairedHost, AppEnvironment) async throws -> Void
    ) async throws -> AppError.Kind? {
        let environment = environment.muted()
        let failures = await withTaskGroup(of: AppError?.self) { group in
            for host in hosts {
                let selector = naming(host)
                group.addTask {
                    await selector.follow(host, in: environment, body)
                }
            }
            return await group.reduce(into: [AppError]()) { if let error = $1 { $0.append(error) } }
        }
        try Task.checkCancellation()
        return failures.map(\.kind).max()
    }

    /// - Returns: The error that keeps the host from being followed; nil when the task was cancelled.
    private func follow(
        _ host: PairedHost,
        in environment: AppEnvironment,
        _ body: @Sendable (HostSelector, PairedHost, AppEnvironment) async throws -> Void
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

extension AppError {
    /// The same error with the host's name in its message.
    package func naming(_ host: PairedHost) -> AppError {
        guard !message.has(host.name) else { return self }
        var error = self
        error.message = "\(host.name): \(message)"
        return error
    }

    /// The same error with one more sentence in its message.
    package func adding(_ sentence: String) -> AppError {
        var error = self
        error.message += message.utf8.last == UInt8(ascii: ".") ? " \(sentence)" : ". \(sentence)"
        return error
    }

    /// A host that was waited for as long as the user wants.
    static func late(_ host: PairedHost, within limit: Duration) -> AppError {
        AppError(
            .timedOut,
            "host.timed_out",
            "\(host.title) did not answer within \(limit.roughly)",
            next: "wait longer: --timeout 30s"
        )
    }
}
