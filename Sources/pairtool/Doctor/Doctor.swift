/// One thing that `pairtool doctor` looks at.
protocol DoctorCheck: Sendable {
    /// What its findings are about, should it not come to any.
    var name: CheckName { get }
    func findings() async throws -> [Finding]
}

/// Runs checks side by side and reports what they find, in their order.
struct Doctor: Sendable {
    /// The most checks at a time: each host is one.
    private static let width = 12

    let checks: [any DoctorCheck]
    /// The longest that one may take. Default: 12 s.
    var limit = Duration.seconds(12)
    var clock: any Clock<Duration> = ContinuousClock()

    /// - Parameter report: Gets the findings of a check as soon as those of all before it are there.
    /// - Returns: All findings.
    @discardableResult
    func run(report: (Finding) -> Void = { _ in }) async throws -> [Finding] {
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
            let findings = try await withTimeLimit(limit, clock: clock) { try await check.findings() }
            try Task.checkCancellation()
            return findings
                ?? [.problem(check.name, "the check did not finish within \(limit.components.seconds) s", .runAgain)]
        } catch is CancellationError {
            throw CancellationError()
        } catch {
            return [.problem(check.name, CommandError(describing: error).message, .runAgain)]
        }
    }
}
