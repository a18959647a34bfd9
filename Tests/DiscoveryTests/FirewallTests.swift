import Testing

@testable import Discovery

private let inward = FirewallPacket(isIncoming: true, interface: "eth0", isIPv6: false)
private let inward6 = FirewallPacket(isIncoming: true, interface: "eth0", isIPv6: true)
private let outward = FirewallPacket(isIncoming: false, interface: "eth0", isIPv6: false)

/// The JSON of nftables with one table, one chain that is entered by itself, and rules.
private func ruleset(
    family: String = "inet",
    hook: String = "input",
    policy: String = "accept",
    _ rules: String...,
    chain: String = ""
) throws -> FirewallRules {
    let items =
        [
            #"{"metainfo": {"version": "1.0.6", "json_schema_version": 1}}"#,
            #"{"table": {"family": "\#(family)", "name": "t", "handle": 1}}"#,
            #"""
            {"chain": {"family": "\#(family)", "table": "t", "name": "c", "handle": 1, "type": "filter",
             "hook": "\#(hook)", "prio": 0, "policy": "\#(policy)"}}
            """#,
            #"{"chain": {"family": "\#(family)", "table": "t", "name": "other", "handle": 2}}"#,
        ]
        + rules.enumerated().map { index, expressions in
            #"""
            {"rule": {"family": "\#(family)", "table": "t", "chain": "c", "handle": \#(index + 3), "expr": [\#(expressions)]}}
            """#
        }
        + (chain.isEmpty
            ? []
            : [
                #"""
                {"rule": {"family": "\#(family)", "table": "t", "chain": "other", "handle": 50, "comment": "no mdns",
                 "expr": [\#(chain)]}}
                """#
            ])
    return try #require(FirewallRules(nftables: Array(#"{"nftables": [\#(items.joined(separator: ","))]}"#.utf8)))
}

private func match(_ left: String, _ right: String, _ sign: String = "==") -> String {
    #"{"match": {"op": "\#(sign)", "left": \#(left), "right": \#(right)}}"#
}

private let udpPort = #"{"payload": {"protocol": "udp", "field": "dport"}}"#
private let drop = #"{"drop": null}"#
private let accept = #"{"accept": null}"#

@Suite struct NFTablesTests {
    @Test("A rule that drops the port is found, with its place")
    func port() throws {
        let rules = try ruleset(#"\#(match(udpPort, "5353")), {"counter": {"packets": 0, "bytes": 0}}, \#(drop)"#)
        #expect(rules.verdict(of: inward) == .dropped(by: "the rule with handle 3 of chain c in table inet t"))
        #expect(rules.verdict(of: inward6) == .dropped(by: "the rule with handle 3 of chain c in table inet t"))
        #expect(rules.verdict(of: outward) == .passes)
    }

    @Test(
        "Rules for other packets do not count",
        arguments: [
            match(udpPort, "53"), match(udpPort, #"{"set": [{"range": [1900, 1910]}, 68]}"#),
            match(#"{"payload": {"protocol": "tcp", "field": "dport"}}"#, "5353"),
            match(#"{"meta": {"key": "iifname"}}"#, #""wlan0""#), match(#"{"meta": {"key": "l4proto"}}"#, #""tcp""#),
            match(#"{"ct": {"key": "state"}}"#, #"["established", "related"]"#, "in"),
            match(#"{"payload": {"protocol": "ip", "field": "daddr"}}"#, #""10.0.0.1""#),
            match(#"{"meta": {"key": "pkttype"}}"#, #""broadcast""#), match(udpPort, "5353", "!="),
        ]
    )
    func others(condition: String) throws {
        #expect(try ruleset("\(condition), \(drop)").verdict(of: inward) == .passes)
    }

    @Test(
        "Every way to say that it is mDNS is understood",
        arguments: [
            match(udpPort, #"{"set": [{"range": [5000, 6000]}, 68]}"#),
            match(#"{"payload": {"protocol": "th", "field": "sport"}}"#, "5353"),
            match(#"{"meta": {"key": "iifname"}}"#, #"{"set": ["wlan0", "eth0"]}"#),
            match(#"{"meta": {"key": "iifname"}}"#, #""eth*""#),
            match(#"{"meta": {"key": "l4proto"}}"#, #"{"set": ["tcp", "udp"]}"#),
            match(
                #"{"payload": {"protocol": "ip", "field": "daddr"}}"#,
                #"{"prefix": {"addr": "224.0.0.0", "len": 4}}"#
            ),
            match(#"{"fib": {"result": "type", "flags": ["daddr"]}}"#, #""multicast""#),
            match(#"{"meta": {"key": "pkttype"}}"#, #""unicast""#, "!="), match(udpPort, "53", "!="),
            match(#"{"ct": {"key": "state"}}"#, #"["new"]"#, "in"),
        ]
    )
    func same(condition: String) throws {
        #expect(try ruleset("\(condition), \(drop)").verdict(of: inward) != .passes)
    }

    @Test("A policy drops what no rule lets through, and an earlier rule saves it")
    func policy() throws {
        #expect(
            try ruleset(policy: "drop").verdict(of: inward) == .dropped(by: "the policy of chain c in table inet t")
        )
        let open = try ruleset(policy: "drop", "\(match(udpPort, "5353")), \(accept)", drop)
        #expect(open.verdict(of: inward) == .passes)
    }

    @Test("What depends on the sender is a suspicion, not a finding")
    func unknown() throws {
        let sender = match(#"{"payload": {"protocol": "ip", "field": "saddr"}}"#, #""10.0.0.9""#)
        #expect(
            try ruleset("\(sender), \(drop)").verdict(of: inward)
                == .perhapsDropped(by: "the rule with handle 3 of chain c in table inet t")
        )
        #expect(
            try ruleset(policy: "drop", "\(sender), \(accept)").verdict(of: inward)
                == .perhapsDropped(by: "the policy of chain c in table inet t")
        )
        let named = match(udpPort, #""@allowed""#)
        #expect(try ruleset("\(named), \(accept)", drop).verdict(of: inward) != .passes)
    }

    @Test("Other chains are followed, and come back")
    func chains() throws {
        let jump = #"{"jump": {"target": "other"}}"#
        let dropping = try ruleset(jump, chain: "\(match(udpPort, "5353")), \(drop)")
        #expect(
            dropping.verdict(of: inward)
                == .dropped(by: "the rule with handle 50 (“no mdns”) of chain other in table inet t")
        )
        let returning = try ruleset(jump, drop, chain: #"{"return": null}"#)
        #expect(returning.verdict(of: inward) == .dropped(by: "the rule with handle 4 of chain c in table inet t"))
        let loop = try ruleset(jump, chain: #"{"jump": {"target": "other"}}"#)
        #expect(loop.verdict(of: inward) == .passes)
    }

    @Test("A map from the state of a connection is read")
    func map() throws {
        func choice(_ verdict: String) -> String {
            #"""
            {"vmap": {"key": {"ct": {"key": "state"}}, "data": {"set": [["established", {"accept": null}],
             ["new", {"\#(verdict)": null}]]}}}
            """#
        }
        #expect(try ruleset(choice("drop")).verdict(of: inward) != .passes)
        #expect(try ruleset(policy: "drop", choice("accept")).verdict(of: inward) == .passes)
    }

    @Test("A table for IPv4 says nothing of IPv6, and a chain for the way out nothing of the way in")
    func scope() throws {
        #expect(try ruleset(family: "ip", drop).verdict(of: inward6) == .passes)
        #expect(try ruleset(family: "ip6", drop).verdict(of: inward6) != .passes)
        #expect(try ruleset(hook: "output", drop).verdict(of: inward) == .passes)
        #expect(try ruleset(hook: "output", drop).verdict(of: outward) != .passes)
        #expect(try ruleset(hook: "forward", drop).verdict(of: outward) == .passes)
    }

    @Test("Tables that iptables looks after are left to it, and what is no list is none")
    func foreign() throws {
        #expect(try ruleset(policy: "drop", #"{"xt": {"type": "match", "name": "addrtype"}}, \#(drop)"#).isEmpty)
        #expect(FirewallRules(nftables: Array("Operation not permitted".utf8)) == nil)
        #expect(FirewallRules(nftables: Array(#"{"nftables": []}"#.utf8))?.isEmpty == true)
    }
}

@Suite struct IPTablesTests {
    private func rules(_ filter: String, policy: String = "ACCEPT", isIPv6: Bool = false) -> FirewallRules {
        FirewallRules(
            iptables: """
                # Generated by iptables-save v1.8.9 on Sat Nov 21 14:37:45 2026
                *nat
                :PREROUTING DROP [0:0]
                COMMIT
                *filter
                :INPUT \(policy) [0:0]
                :FORWARD DROP [0:0]
                :OUTPUT ACCEPT [0:0]
                :ufw-before - [0:0]
                \(filter)
                COMMIT
                # Completed on Sat Nov 21 14:37:45 2026
                """,
            isIPv6: isIPv6
        )
    }

    @Test(
        "Rules that drop mDNS are found",
        arguments: [
            "-A INPUT -p udp -m udp --dport 5353 -j DROP",
            "-A INPUT -i eth+ -p udp -m multiport --dports 53,5000:5400 -j REJECT --reject-with icmp-port-unreachable",
            "-A INPUT -d 224.0.0.0/4 -j DROP", "-A INPUT -m addrtype --dst-type MULTICAST -j DROP",
            "-A INPUT -m comment --comment \"no -j here\" ! -i lo -j DROP",
            "-A INPUT -m conntrack --ctstate NEW,INVALID -j DROP",
        ]
    )
    func dropped(rule: String) {
        #expect(rules(rule).verdict(of: inward) == .dropped(by: "iptables rule \(rule)"))
        #expect(rules(rule).verdict(of: inward6) == .passes)
    }

    @Test(
        "Rules for other packets do not count",
        arguments: [
            "-A INPUT -p tcp -m tcp --dport 5353 -j DROP", "-A INPUT -i lo -j DROP", "-A OUTPUT -p udp -j DROP",
            "-A INPUT -m state --state RELATED,ESTABLISHED -j DROP", "-A INPUT ! -p udp -j DROP",
            "-A INPUT -d 10.0.0.1/32 -j DROP", "-A INPUT -j LOG --log-prefix \"DROP \"",
        ]
    )
    func passes(rule: String) {
        #expect(rules(rule).verdict(of: inward) == .passes)
    }

    @Test("A policy, another chain and a sender that is not known")
    func more() {
        let policy = "the policy of chain INPUT in table filter of iptables"
        #expect(rules("", policy: "DROP").verdict(of: inward) == .dropped(by: policy))
        #expect(
            rules("-A INPUT -j ufw-before\n-A ufw-before -p udp -m udp --dport 5353 -j ACCEPT", policy: "DROP")
                .verdict(of: inward) == .passes
        )
        #expect(
            rules("-A INPUT -s 10.0.0.0/8 -j ACCEPT", policy: "DROP").verdict(of: inward) == .perhapsDropped(by: policy)
        )
        #expect(rules("", policy: "DROP", isIPv6: true).verdict(of: inward6) != .passes)
    }
}
