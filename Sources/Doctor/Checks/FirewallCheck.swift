import CompanionClient
import CompanionWire
import Discovery
import FoundationEssentials
import Glibc
import Subprocess
import SystemPackage

/// Whether a firewall on this machine drops mDNS. Reads its rules and changes nothing.
package struct FirewallCheck: DoctorCheck {
    package let name = CheckName.firewall
    private let only: String?
    /// How long a program may take to list its rules.
    private static let limit = Duration.seconds(3)

    /// - Parameter only: The interface that the user named; nil for all.
    package init(only: String?) {
        self.only = only
    }

    package func findings() async throws -> [Finding] {
        guard geteuid() == 0 else {
            return [.skipped(.firewall, "only root may read the rules of the firewall", .asRoot)]
        }
        async let nftables = Self.output(of: "nft", ["-j", "list", "ruleset"])
        async let iptables = Self.output(of: "iptables-save", [])
        async let ip6tables = Self.output(of: "ip6tables-save", [])
        var rules: [FirewallRules] = []
        var shown: Set<String> = []
        for (list, isIPv6) in [(try await iptables, false), (try await ip6tables, true)] {
            guard let text = list.map({ String(decoding: $0, as: UTF8.self) }) else { continue }
            rules.append(FirewallRules(iptables: text, isIPv6: isIPv6))
            shown.formUnion(FirewallRules.tables(inIPTables: text, isIPv6: isIPv6))
        }
        if let list = try await nftables, let read = FirewallRules(nftables: list, without: shown) {
            rules.append(read)
        }
        guard !rules.isEmpty else {
            return [.skipped(.firewall, "neither nft nor iptables-save can list the rules", .installFirewallTool)]
        }
        return Self.findings(rules, interfaces: InterfaceCheck.usable(NetworkInterface.all(), only: only))
    }

    static func findings(_ rules: [FirewallRules], interfaces: [NetworkInterface]) -> [Finding] {
        /// Where each rule drops packets, in the order in which the rules were found.
        var certain: [(rule: String, places: [String])] = []
        var possible: [(rule: String, places: [String])] = []
        func note(_ rule: String, _ place: String, in list: inout [(rule: String, places: [String])]) {
            if let index = list.firstIndex(where: { $0.rule == rule }) {
                if !list[index].places.contains(place) { list[index].places.append(place) }
            } else {
                list.append((rule, [place]))
            }
        }
        for interface in interfaces {
            for isIPv6 in [false, true] where interface.hasAddress(isIPv6: isIPv6) {
                for isIncoming in [true, false] {
                    let packet = FirewallPacket(isIncoming: isIncoming, interface: interface.name, isIPv6: isIPv6)
                    let place = "\(isIPv6 ? "IPv6" : "IPv4") \(isIncoming ? "from" : "to") \(interface.name)"
                    for set in rules {
                        switch set.verdict(of: packet) {
                        case .passes: break
                        case .dropped(let rule): note(rule, place, in: &certain)
                        case .perhapsDropped(let rule): note(rule, place, in: &possible)
                        }
                    }
                }
            }
        }
        // A rule that certainly drops packets in one place is not also listed as a suspect.
        possible.removeAll { suspect in certain.contains { $0.rule == suspect.rule } }
        let findings =
            certain.map { rule, places in
                Finding.problem(.firewall, "\(rule) drops mDNS (\(places.joined(separator: ", ")))", .allowMDNS)
            }
            + possible.map { rule, places in
                Finding.warning(.firewall, "\(rule) may drop mDNS (\(places.joined(separator: ", ")))", .allowMDNS)
            }
        guard findings.isEmpty else { return findings }
        return [.ok(.firewall, rules.allSatisfy(\.isEmpty) ? "no rules" : "no rule drops mDNS")]
    }

    /// The output of a program; nil if it is not installed or fails.
    private static func output(of program: String, _ arguments: [String]) async throws -> [UInt8]? {
        let places = ["/usr/sbin", "/sbin", "/usr/bin", "/bin"].map { "\($0)/\(program)" }
        guard let path = places.first(where: { access($0, X_OK) == 0 }) else { return nil }
        return try await withTimeLimit(limit) { () async -> [UInt8]? in
            let result = try? await Subprocess.run(
                .path(FilePath(path)),
                arguments: Arguments(arguments),
                environment: .custom(["PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C"]),
                output: .bytes(limit: 16 << 20),
                error: .discarded
            )
            guard let result, result.terminationStatus.isSuccess else { return nil }
            return result.standardOutput
        } ?? nil
    }
}
