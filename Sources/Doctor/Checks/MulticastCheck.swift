import CompanionWire
import Discovery
import LocalState

/// Whether this machine receives its own multicast packets and those of others.
package struct MulticastCheck: DoctorCheck {
    package let name = CheckName.multicast
    private let only: String?
    private let limit: Duration

    /// - Parameters:
    ///   - only: The interface that the user named; nil for all.
    ///   - limit: How long to listen. Default: 2 s.
    package init(only: String?, limit: Duration = .seconds(2)) {
        self.only = only
        self.limit = limit
    }

    package func findings() async throws -> [Finding] {
        let interfaces = InterfaceCheck.usable(NetworkInterface.all(), only: only)
        guard !interfaces.isEmpty else { return [.skipped(.multicast, evidence: "there is no interface to test")] }
        let limit = limit
        let waitsForOthers = interfaces.contains { !$0.isLoopback }
        let tests = try await BlockingCall.run {
            MulticastTest.run(on: interfaces, limit: limit, waitsForOthers: waitsForOthers)
        }
        return interfaces.map { interface in
            Self.finding(interface, tests: tests.filter { $0.interface == interface.name })
        }
    }

    static func finding(_ interface: NetworkInterface, tests: [MulticastTest]) -> Finding {
        let name = interface.name
        let tests = tests.filter { $0.outcome != .noAddress }
        guard !tests.isEmpty else {
            return .problem(.multicast, about: name, evidence: "it has no address", advice: .connect)
        }
        var broken: [String] = []
        for test in tests {
            let version = test.isIPv6 ? "IPv6" : "IPv4"
            switch test.outcome {
            case .heard, .noAddress: break
            case .silent: broken.append("the test packet did not come back over \(version)")
            case .portTaken: broken.append("UDP port \(PortCheck.port) is taken for \(version)")
            case .failed(let reason): broken.append("\(version): \(reason)")
            }
        }
        let versions = tests.filter { $0.outcome == .heard }.map { $0.isIPv6 ? "IPv6" : "IPv4" }
        let heard = "the test packet came back over " + versions.joined(separator: " and ")
        guard broken.isEmpty else {
            let evidence = (broken + (versions.isEmpty ? [] : [heard])).joined(separator: "; ")
            let advice = tests.contains { $0.outcome == .portTaken } ? Advice.endPortOwner : .findFilter
            let values = ["PROGRAM": "the program that has it"]
            return versions.isEmpty
                ? .problem(.multicast, about: name, evidence: evidence, advice: advice, values: values)
                : .warning(.multicast, about: name, evidence: evidence, advice: advice, values: values)
        }
        let others = tests.flatMap(\.others).sorted()
        guard others.isEmpty else {
            let names = others.prefix(3).map(\.description).joined(separator: ", ")
            return .ok(.multicast, about: name, evidence: "\(heard); heard others: \(names)")
        }
        guard !interface.isLoopback else { return .ok(.multicast, about: name, evidence: heard) }
        return .warning(
            .multicast,
            about: name,
            evidence: "\(heard), but no other machine was heard",
            advice: .passMulticast
        )
    }
}
