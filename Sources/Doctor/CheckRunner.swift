import CompanionWire

/// A check for what may keep hosts from being found or from answering.
package protocol DoctorCheck: Sendable {
    /// The name to report if the check returns no findings of its own.
    var name: CheckName { get }
    /// Runs the check.
    ///
    /// - Returns: The findings, in the order in which to show them.
    /// - Throws: `CancellationError`, which ends all checks. ``CheckRunner`` reports any other error as a problem.
    func findings() async throws -> [Finding]
}

/// Runs checks concurrently and reports their findings in the order of the checks.
package struct CheckRunner: Sendable {
    /// The number of checks that run at the same time. Each host is one check.
    private static let width = 12

    private let checks: [any DoctorCheck]
    private let limit: Duration

    /// - Parameter limit: How long a single check may take. Default: 12 s.
    package init(checks: [any DoctorCheck], limit: Duration = .seconds(12)) {
        self.checks = checks
        self.limit = limit
    }

    /// - Parameter report: Called with a check's findings as soon as all checks before it are complete.
    /// - Returns: All findings.
    /// - Throws: `CancellationError`. Other errors of a check become findings.
    @discardableResult
    package func run(report: (Finding) -> Void = { _ in }) async throws -> [Finding] {
        try await withThrowingTaskGroup(of: (Int, [Finding]).self) { group in
            var waiting = Array(checks.enumerated().reversed())
            func start() {
                guard let (index, check) = waiting.popLast() else { return }
                group.addTask { (index, try await examine(check)) }
            }
            for _ in 0..<Self.width { start() }
            var done: [Int: [Finding]] = [:]
            var all: [Finding] = []
            var next = 0
            while let (index, findings) = try await group.next() {
                start()
                done[index] = findings
                while let findings = done.removeValue(forKey: next) {
                    findings.forEach(report)
                    all += findings
                    next += 1
                }
            }
            return all
        }
    }

    private func examine(_ check: any DoctorCheck) async throws -> [Finding] {
        do {
            let findings = try await withTimeLimit(limit) { try await check.findings() }
            try Task.checkCancellation()
            return findings
                ?? [
                    .problem(
                        check.name,
                        evidence: "the check did not finish within \(limit.components.seconds) s",
                        advice: .runAgain
                    )
                ]
        } catch is CancellationError {
            throw CancellationError()
        } catch {
            return [.problem(check.name, evidence: "\(error)", advice: .runAgain)]
        }
    }
}
