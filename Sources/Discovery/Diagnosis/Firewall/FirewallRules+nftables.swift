internal import CompanionWire
internal import FoundationEssentials

extension FirewallRules {
    /// Reads `nft -j list ruleset` (libnftables-json(5)).
    ///
    /// Tables with parts that only iptables understands (`xt`) are left out: `iptables-save` has them.
    ///
    /// - Parameter known: Tables that are known from elsewhere, such as `ip filter`, and left out too.
    /// - Returns: nil if it is not such a list.
    package init?(nftables json: [UInt8], without known: Set<String> = []) {
        struct List: Decodable { var nftables: [[String: NFTValue]] }
        guard let list = try? JSONDecoder().decode(List.self, from: Data(json)) else { return nil }
        let rules = list.nftables.compactMap { $0["rule"] }
        let foreign = known.union(rules.filter { $0["expr"]?.mentions("xt") == true }.map(Self.table))
        for chain in list.nftables.compactMap({ $0["chain"] }) where !foreign.contains(Self.table(of: chain)) {
            let name = Self.name(of: chain)
            chains[name] = []
            guard let hook = chain["hook"]?.text, chain["type"]?.text == "filter" else { continue }
            // Everything that passes on the way in or out; `forward` is for others' packets.
            let incoming = ["ingress", "prerouting", "input"].contains(hook)
            guard incoming || ["output", "postrouting", "egress"].contains(hook) else { continue }
            let versions: [String: Bool] = ["ip": false, "ip6": true]
            let family = chain["family"]?.text ?? ""
            guard ["ip", "ip6", "inet", "netdev"].contains(family) else { continue }
            entries.append(
                FirewallEntry(
                    chain: name,
                    isIncoming: incoming,
                    isIPv6: versions[family],
                    dropsByPolicy: chain["policy"]?.text == "drop",
                    place: "chain \(chain["name"]?.text ?? "?") in table \(Self.table(of: chain))"
                )
            )
        }
        for rule in rules where !foreign.contains(Self.table(of: rule)) {
            var chain = rule
            chain["name"] = rule["chain"]
            let read = NFTRuleReader(table: Self.table(of: rule), place: Self.place(of: rule)).read(rule["expr"])
            chains[Self.name(of: chain), default: []] += read
        }
    }

    private static func table(of item: NFTValue) -> String {
        "\(item["family"]?.text ?? "?") \(item["table"]?.text ?? "?")"
    }

    private static func name(of chain: NFTValue) -> String {
        "\(table(of: chain)) \(chain["name"]?.text ?? "?")"
    }

    private static func place(of rule: NFTValue) -> String {
        let comment = rule["comment"]?.text.map { " (“\($0)”)" } ?? ""
        // What `nft -a list ruleset` shows: it stays when rules before it come and go.
        return "the rule with handle \(rule["handle"]?.text ?? "?")\(comment) "
            + "of chain \(rule["chain"]?.text ?? "?") in table \(table(of: rule))"
    }
}

/// Turns the expressions of a rule of nftables into conditions and actions.
private struct NFTRuleReader {
    /// Its family and name: chains are called within it.
    let table: String
    let place: String

    /// A rule that chooses by a map becomes several.
    func read(_ expressions: NFTValue?) -> [FirewallRule] {
        var conditions: [FirewallCondition] = []
        var rules: [FirewallRule] = []
        func add(_ action: FirewallAction, _ more: [FirewallCondition] = []) {
            rules.append(FirewallRule(conditions: conditions + more, action: action, text: place))
        }
        for expression in expressions?.items ?? [] {
            guard let (name, value) = expression.single else { continue }
            switch name {
            case "match": conditions.append(condition(value))
            case "accept", "drop", "reject", "jump", "goto", "return", "queue": add(action(name, value))
            case "vmap": for (more, action) in choices(value) { add(action, [more]) }
            case "counter", "log", "mangle", "notrack", "ct helper", "flow", "tproxy": break
            default: conditions.append(.unknown)
            }
        }
        return rules
    }

    private func action(_ name: String, _ value: NFTValue) -> FirewallAction {
        switch name {
        case "accept": .accept
        case "drop", "reject": .drop
        case "jump": .jump("\(table) \(value["target"]?.text ?? "?")")
        case "goto": .go("\(table) \(value["target"]?.text ?? "?")")
        case "return": .back
        default: .unknown
        }
    }

    private func choices(_ map: NFTValue) -> [(FirewallCondition, FirewallAction)] {
        guard let key = map["key"], let set = map["data"]?["set"]?.items else { return [(.unknown, .unknown)] }
        return set.compactMap { pair in
            guard let pair = pair.items, pair.count == 2, let (name, value) = pair[1].single else { return nil }
            return (condition(on: key, equals: pair[0]), action(name, value))
        }
    }

    private func condition(_ match: NFTValue) -> FirewallCondition {
        guard let left = match["left"], let right = match["right"], let sign = match["op"]?.text else {
            return .unknown
        }
        let condition = condition(on: left, equals: right)
        switch sign {
        case "==", "in": return condition
        case "!=": return condition == .unknown ? .unknown : .not(condition)
        default: return .unknown
        }
    }

    private func condition(on left: NFTValue, equals right: NFTValue) -> FirewallCondition {
        let values = right["set"]?.items ?? right.items ?? [right]
        let words = values.compactMap(\.text)
        let isWords = words.count == values.count
        // `@name` is a set that is defined elsewhere.
        guard let (kind, what) = left.single, !words.contains(where: { $0.begins(with: "@") }) else { return .unknown }
        switch (kind, what["protocol"]?.text, what["field"]?.text ?? what["key"]?.text ?? what["result"]?.text) {
        case ("payload", "udp", "dport"?), ("payload", "udp", "sport"?), ("payload", "th", "dport"?),
            ("payload", "th", "sport"?):
            let ranges = values.compactMap(\.ports)
            return ranges.count == values.count ? .port(ranges) : .unknown
        // Of a protocol that mDNS does not use.
        case ("payload", "tcp", _), ("payload", "icmp", _), ("payload", "icmpv6", _), ("payload", "sctp", _):
            return .transport([])
        case ("payload", "ip", "protocol"?), ("payload", "ip6", "nexthdr"?), ("meta", _, "l4proto"?):
            return isWords ? .transport(Set(words)) : .unknown
        case ("payload", "ip", "daddr"?), ("payload", "ip6", "daddr"?):
            let prefixes = values.compactMap(\.prefix)
            return prefixes.count == values.count ? .destination(prefixes) : .unknown
        case ("meta", _, "nfproto"?):
            guard words == ["ipv4"] || words == ["ipv6"] else { return .unknown }
            return .version(isIPv6: words == ["ipv6"])
        case ("meta", _, "iifname"?), ("meta", _, "iif"?):
            return isWords ? .interface(incoming: true, names: words) : .unknown
        case ("meta", _, "oifname"?), ("meta", _, "oif"?):
            return isWords ? .interface(incoming: false, names: words) : .unknown
        case ("meta", _, "pkttype"?), ("fib", _, "type"?): return words.count == 1 ? .castTo(words[0]) : .unknown
        case ("ct", _, "state"?): return isWords ? .state(Set(words)) : .unknown
        default: return .unknown
        }
    }
}

/// A value of the JSON of nftables.
indirect enum NFTValue: Decodable, Sendable, Hashable {
    case text(String)
    case list([NFTValue])
    case object([String: NFTValue])
    case nothing

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let value = try? container.decode(Int.self) {
            self = .text("\(value)")
        } else if let value = try? container.decode(String.self) {
            self = .text(value)
        } else if let value = try? container.decode([NFTValue].self) {
            self = .list(value)
        } else if let value = try? container.decode([String: NFTValue].self) {
            self = .object(value)
        } else {
            self = .nothing
        }
    }

    var text: String? { if case .text(let text) = self { text } else { nil } }
    var items: [NFTValue]? { if case .list(let items) = self { items } else { nil } }
    /// The only member of an object.
    var single: (String, NFTValue)? {
        guard case .object(let members) = self, members.count == 1, let member = members.first else { return nil }
        return (member.key, member.value)
    }

    subscript(key: String) -> NFTValue? {
        get { if case .object(let members) = self { members[key] } else { nil } }
        set {
            guard case .object(var members) = self else { return }
            members[key] = newValue
            self = .object(members)
        }
    }

    /// Whether an object in a list has this member.
    func mentions(_ key: String) -> Bool {
        items?.contains { $0[key] != nil } ?? false
    }

    var ports: ClosedRange<Int>? {
        if let number = text.flatMap(Int.init) { return number...number }
        guard let ends = self["range"]?.items?.compactMap({ $0.text.flatMap(Int.init) }), ends.count == 2,
            ends[0] <= ends[1]
        else { return nil }
        return ends[0]...ends[1]
    }

    var prefix: IPPrefix? {
        if let text { return IPPrefix(text) }
        guard let address = self["prefix"]?["addr"]?.text, let bits = self["prefix"]?["len"]?.text else { return nil }
        return IPPrefix("\(address)/\(bits)")
    }
}
