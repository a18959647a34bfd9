extension FirewallRules {
    /// What becomes of a packet: it has to pass every chain that is entered by itself.
    package func verdict(of packet: FirewallPacket) -> Verdict {
        var verdict = Verdict.passes
        for entry in entries
        where entry.isIncoming == packet.isIncoming && (entry.isIPv6 ?? packet.isIPv6) == packet.isIPv6 {
            var walk = Walk(rules: self, packet: packet)
            switch walk.pass(entry.chain, depth: 0) {
            case .dropped(let text): return .dropped(by: text)
            case .accepted: break
            case .passedOn:
                if entry.dropsByPolicy {
                    let text = "the policy of \(entry.place)"
                    if walk.isUncertain { verdict = .perhapsDropped(by: text) } else { return .dropped(by: text) }
                }
            }
            if case .passes = verdict, let text = walk.perhapsDropped { verdict = .perhapsDropped(by: text) }
        }
        return verdict
    }

    /// A packet's way through one chain and those that it calls.
    private struct Walk {
        enum End {
            case accepted
            case dropped(by: String)
            /// At the end of the chain, or sent back.
            case passedOn
        }

        let rules: FirewallRules
        let packet: FirewallPacket
        var perhapsDropped: String?
        /// Whether a rule before may have let the packet pass, so that nothing after it is certain.
        var isUncertain = false

        init(rules: FirewallRules, packet: FirewallPacket) {
            self.rules = rules
            self.packet = packet
        }

        mutating func pass(_ chain: String, depth: Int) -> End {
            // The kernel allows 16 calls in one another.
            guard depth < 17, let list = rules.chains[chain] else { return .passedOn }
            for rule in list {
                let judged = rule.conditions.map { $0.holds(for: packet) }
                guard !judged.contains(false) else { continue }
                guard judged.contains(nil) || rule.action == .unknown else {
                    guard let end = apply(rule, depth: depth) else { continue }
                    return end
                }
                suspect(rule, depth: depth)
            }
            return .passedOn
        }

        /// - Returns: nil to go on with the next rule.
        private mutating func apply(_ rule: FirewallRule, depth: Int) -> End? {
            switch rule.action {
            case .accept: return .accepted
            case .drop:
                guard isUncertain else { return .dropped(by: rule.text) }
                perhapsDropped = perhapsDropped ?? rule.text
                return .accepted
            case .jump(let chain):
                let end = pass(chain, depth: depth + 1)
                if case .passedOn = end { return nil }
                return end
            case .go(let chain): return pass(chain, depth: depth + 1)
            case .back: return .passedOn
            case .nothing, .unknown: return nil
            }
        }

        /// Notes what a rule would do that may apply or not.
        private mutating func suspect(_ rule: FirewallRule, depth: Int) {
            switch rule.action {
            case .accept, .unknown, .back: isUncertain = true
            case .drop: perhapsDropped = perhapsDropped ?? rule.text
            case .jump(let chain), .go(let chain):
                switch pass(chain, depth: depth + 1) {
                case .accepted: isUncertain = true
                case .dropped(let text): perhapsDropped = perhapsDropped ?? text
                case .passedOn: break
                }
            case .nothing: break
            }
        }
    }
}
