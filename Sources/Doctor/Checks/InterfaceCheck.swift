import CompanionWire
import Discovery

/// The network interfaces, and which of them mDNS can use.
package struct InterfaceCheck: DoctorCheck {
    package let name = CheckName.interfaces
    private let only: String?

    /// - Parameter only: The interface that the user named; nil for all.
    package init(only: String?) {
        self.only = only
    }

    package func findings() -> [Finding] {
        Self.findings(NetworkInterface.all(), only: only)
    }

    static func findings(_ all: [NetworkInterface], only: String?) -> [Finding] {
        let candidates = usable(all, only: only)
        // Count links that are up, even without multicast. Links that are not connected do not count.
        let mute = all.filter { $0.name == only || only == nil && $0.kind == .network }
            .filter { $0.isUp && $0.isRunning && !$0.allowsMulticast && !$0.isLoopback }
        var findings: [Finding] = []
        if !candidates.isEmpty {
            let names = candidates.map { interface in
                let addresses = interface.addresses.map(\.description).joined(separator: ", ")
                return "\(interface.name) (\(addresses.isEmpty ? "no address" : addresses))"
            }
            findings.append(.ok(.interfaces, evidence: "multicast is possible on " + names.joined(separator: "; ")))
        } else if mute.isEmpty {
            findings.append(
                .problem(.interfaces, evidence: "no network interface is up and connected", advice: .connect)
            )
        }
        for interface in mute {
            let evidence = "multicast is switched off"
            let values = ["IF": interface.name]
            findings.append(
                candidates.isEmpty
                    ? .problem(
                        .interfaces,
                        about: interface.name,
                        evidence: evidence,
                        advice: .enableMulticast,
                        values: values
                    )
                    : .warning(
                        .interfaces,
                        about: interface.name,
                        evidence: evidence,
                        advice: .enableMulticast,
                        values: values
                    )
            )
        }
        guard only == nil else { return findings }
        let active = all.filter { $0.isUp && $0.isRunning }
        let containers = active.filter { $0.kind == .container }.map(\.name).sorted()
        if !containers.isEmpty {
            let evidence =
                "\(containers.joined(separator: ", ")): belongs to containers or virtual machines, and is searched too"
            let values = ["IF": candidates.first?.name ?? "IF"]
            findings.append(.note(.interfaces, evidence: evidence, advice: .chooseInterface, values: values))
        }
        for interface in active where interface.kind == .tunnel {
            findings.append(
                .note(.interfaces, about: interface.name, evidence: "is a VPN or tunnel", advice: .behindTunnel)
            )
        }
        return findings
    }

    /// The interfaces on which hosts can be found: the named one, or every network that is up.
    static func usable(_ all: [NetworkInterface], only: String?) -> [NetworkInterface] {
        guard let only else {
            return all.filter { $0.kind == .network && $0.isUp && $0.isRunning && $0.allowsMulticast }
        }
        // Multicast works on `lo`, although the interface does not have the flag.
        return all.filter { $0.name == only && $0.isUp && ($0.allowsMulticast || $0.isLoopback) }
    }
}
