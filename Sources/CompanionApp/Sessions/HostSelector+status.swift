import CompanionClient
import CompanionWire
package import Identity
package import PairingAgent

/// The state of a host that has answered.
package struct HostStatus: Sendable {
    package let host: PairedHost
    package let report: HostStatusReport
    /// Why the host cannot be used now; nil if it can.
    package let failure: AppError?
    /// Whether the report lacks what the failure says.
    package let isFailureUnsaid: Bool

    init(_ host: PairedHost, health: HostHealth) {
        self.host = host
        report = HostStatusReport(host, health: health)
        failure = report.failure(health)
        isFailureUnsaid = health.trouble != nil || !report.connected && report.connectedDevice == nil
    }
}

extension HostSelector {
    /// Asks the chosen host for its state.
    ///
    /// - Throws: `CompanionClientError` with the host's name, also if this device is no longer paired.
    package func status(in environment: AppEnvironment) async throws -> HostStatus {
        let host = try await selected(environment)
        do {
            let health = try await host.family.behavior.health(of: host, environment: environment, timeouts: .init())
            if let failure = health.standing?.failure { throw failure }
            return HostStatus(host, health: health)
        } catch let error as CompanionClientError {
            await environment.endPairing(with: host, ifRevokedBy: error)
            throw error.naming(host)
        }
    }

    /// Follows the states of all hosts that tell theirs; one that cannot be reached is shown as that.
    ///
    /// - Returns: The worst kind of error, when no host is left.
    package func followStatuses(
        every interval: Duration,
        in environment: AppEnvironment,
        _ show: @escaping @Sendable (HostStatusReport) -> Void
    ) async throws -> AppError.Kind? {
        let hosts = try pairedHosts(with: .health, for: "its state", in: environment)
        return try await follow(hosts, in: environment) { one, host, environment in
            let selected: PairedHost
            do {
                selected = try await one.selected(environment)
            } catch let error as AppError where error.kind == .unreachable {
                show(HostStatusReport(host, problem: error.message))
                throw error
            }
            try await selected.followStatus(every: interval, in: environment, show)
        }
    }
}

extension PairedHost {
    /// Follows the state of the host until the task is cancelled or the host is lost.
    ///
    /// - Parameters:
    ///   - interval: Between two looks at a host that tells nothing by itself.
    ///   - show: Called with each state that differs from the one before.
    package func followStatus(
        every interval: Duration,
        in environment: AppEnvironment,
        _ show: (HostStatusReport) -> Void
    ) async throws {
        var last: HostStatusReport?
        func take(_ answer: Result<HostHealth, CompanionClientError>) throws {
            let report: HostStatusReport
            switch answer {
            case .failure(let error): report = HostStatusReport(self, problem: error.naming(self).description)
            case .success(let health):
                if let failure = health.standing?.failure {
                    guard trust != .verified else { throw failure }
                    report = HostStatusReport(self, problem: failure.naming(self).description)
                } else {
                    report = HostStatusReport(self, health: health)
                }
            }
            if report != last { show(report) }
            last = report
        }
        do {
            try await family.behavior.watchHealth(of: self, every: interval, environment: environment, take)
        } catch let error as CompanionClientError {
            throw error.naming(self)
        }
    }
}
