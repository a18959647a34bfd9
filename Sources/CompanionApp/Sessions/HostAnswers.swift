package import Identity
package import PairingAgent

/// The answers of the paired hosts to one request, and the errors of those that did not answer.
package struct HostAnswers<Value: Sendable>: Sendable {
    /// In the order of pairing.
    package var answers: [Answer<Value>] = []
    /// How many hosts have nothing of what was asked for.
    package var emptyCount = 0
    package var failures: [(host: PairedHost, error: AppError)] = []

    /// - Parameter results: In the order of pairing.
    package init(_ results: [(host: PairedHost, result: Result<Answer<Value>, AppError>)] = []) {
        for (host, result) in results {
            switch result {
            case .success(let answer): answers.append(answer)
            case .failure(let error) where [.emptyList, .nothingFound].contains(error.kind): emptyCount += 1
            case .failure(let error): failures.append((host, error))
            }
        }
    }

    /// The error that ends a command for which there is nothing to show.
    ///
    /// - Parameter nothing: The error if hosts answered.
    package func failure(_ nothing: AppError) -> AppError {
        guard answers.isEmpty, emptyCount == 0, let worst = failures.map(\.error.kind).max() else {
            return nothing
        }
        return AppError(
            worst,
            "hosts.none_answered",
            failures.count == 1 ? "the host did not answer" : "none of the \(failures.count) hosts answered",
            next: "pairtool status --all-hosts"
        )
    }
}
