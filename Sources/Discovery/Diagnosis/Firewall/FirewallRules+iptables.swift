import CompanionWire

extension FirewallRules {
    /// Reads what `iptables-save` or `ip6tables-save` prints. Of the tables, those that may drop: `filter`, `raw`,
    /// `mangle`.
    package init(iptables text: String, isIPv6: Bool) {
        let program = isIPv6 ? "ip6tables" : "iptables"
        var table = ""
        for line in text.parts("\n") {
            let words = Self.words(line)
            guard let first = words.first else { continue }
            if first.begins(with: "*") {
                table = String(first.dropFirst())
            } else if ["filter", "raw", "mangle"].contains(table), first.begins(with: ":"), words.count > 1 {
                let chain = String(first.dropFirst())
                chains["\(table) \(chain)", default: []] += []
                guard words[1] != "-" else { continue }
                let incoming = ["PREROUTING", "INPUT"].contains(chain)
                guard incoming || ["OUTPUT", "POSTROUTING"].contains(chain) else { continue }
                entries.append(
                    FirewallEntry(
                        chain: "\(table) \(chain)",
                        isIncoming: incoming,
                        isIPv6: isIPv6,
                        dropsByPolicy: words[1] == "DROP",
                        place: "chain \(chain) in table \(table) of \(program)"
                    )
                )
            } else if ["filter", "raw", "mangle"].contains(table), first == "-A", words.count > 2 {
                var reader = IPTablesRuleReader(table: table, words: words.dropFirst(2))
                let (conditions, action) = reader.read()
                let rule = FirewallRule(conditions: conditions, action: action, text: "\(program) rule \(line)")
                chains["\(table) \(words[1])", default: []].append(rule)
            }
        }
    }

    /// The tables of nftables that the text shows in iptables' own words: `ip filter` and the like.
    package static func tables(inIPTables text: String, isIPv6: Bool) -> Set<String> {
        guard text.has("(nf_tables)") else { return [] }
        let names = text.parts("\n").filter { $0.begins(with: "*") }
        return Set(names.map { "\(isIPv6 ? "ip6" : "ip") \($0.dropFirst())" })
    }

    /// Words between blanks; quotes hold blanks together.
    private static func words(_ line: Substring) -> [String] {
        var words: [String] = []
        var word: String?
        var isQuoted = false
        for character in line {
            switch character {
            case "\"":
                isQuoted.toggle()
                word = word ?? ""
            case " " where !isQuoted:
                if let done = word { words.append(done) }
                word = nil
            default: word = (word ?? "") + String(character)
            }
        }
        if let word { words.append(word) }
        return words
    }
}

/// Turns the options of a rule of iptables into conditions and an action.
private struct IPTablesRuleReader {
    let table: String
    var words: ArraySlice<String>

    init(table: String, words: ArraySlice<String>) {
        self.table = table
        self.words = words
    }

    mutating func read() -> ([FirewallCondition], FirewallAction) {
        var conditions: [FirewallCondition] = []
        var action = FirewallAction.nothing
        var isNegated = false
        while let option = words.popFirst() {
            if option == "!" {
                isNegated = true
                continue
            }
            if option == "-j" || option == "-g" {
                action = self.action(option, words.popFirst() ?? "")
                // What follows describes how: the kind of a refusal, the words of a log.
                break
            }
            // Match modules say nothing by themselves, but each rule that uses one has an option of it.
            let value = words.first.map { $0.begins(with: "-") || $0 == "!" } == false ? words.popFirst() : nil
            guard option != "-m", option != "--comment" else { continue }
            let condition = self.condition(option, value ?? "")
            conditions.append(isNegated && condition != .unknown ? .not(condition) : condition)
            isNegated = false
        }
        return (conditions, action)
    }

    private func action(_ option: String, _ target: String) -> FirewallAction {
        switch target {
        case "ACCEPT": .accept
        case "DROP", "REJECT": .drop
        case "RETURN": .back
        case "QUEUE", "NFQUEUE", "TPROXY", "REDIRECT", "DNAT": .unknown
        case _ where target == target.uppercased() && Self.extensions.contains(target): .nothing
        default: option == "-g" ? .go("\(table) \(target)") : .jump("\(table) \(target)")
        }
    }

    /// Targets that let a packet go on.
    private static let extensions: Set<String> = [
        "LOG", "NFLOG", "ULOG", "MARK", "CONNMARK", "CT", "NOTRACK", "TRACE", "DSCP", "TOS", "TTL", "HL", "CLASSIFY",
        "CHECKSUM", "SET", "AUDIT", "TCPMSS", "SECMARK", "CONNSECMARK",
    ]

    private func condition(_ option: String, _ value: String) -> FirewallCondition {
        let list = value.parts(",")
        switch option {
        case "-p": return .transport([value])
        case "-i": return .interface(incoming: true, names: [value])
        case "-o": return .interface(incoming: false, names: [value])
        case "-d": return IPPrefix(value).map { .destination([$0]) } ?? .unknown
        case "--dport", "--sport", "--dports", "--sports", "--ports":
            let ranges = list.compactMap(Self.ports)
            return ranges.count == list.count ? .port(ranges) : .unknown
        case "--state", "--ctstate": return .state(Set(list.map { $0.lowercased() }))
        case "--dst-type", "--pkt-type": return .castTo(value)
        default: return .unknown
        }
    }

    private static func ports(_ text: Substring) -> ClosedRange<Int>? {
        let ends = text.parts(":", omittingEmpty: false)
        guard let low = ends.first, let high = ends.last, ends.count <= 2,
            let first = low.isEmpty ? 0 : Int(low), let last = high.isEmpty ? 65535 : Int(high), first <= last
        else { return nil }
        return first...last
    }
}
