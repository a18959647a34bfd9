import CompanionWire
import FoundationEssentials
import Identity
import PairingAgent
import Testing

/// Auto-pairing without a network: what it does with hosts that come and go and codes that show up.
@Suite struct AutoPairingTests {
    private static let now = Date(timeIntervalSince1970: 1_800_000_000)
    private static let shed = AutoPairing.Host(id: "aaaa000011112222", name: "Shed", advertisedID: "aaaa000011112222")
    private static let barn = AutoPairing.Host(id: "bbbb000011112222", name: "Barn", advertisedID: "bbbb000011112222")
    private static let pin = Base64URL.encode([UInt8](repeating: 7, count: 32))

    /// A code of protocol v1, which names no host.
    private static func plain(_ code: String, expiresIn: Double? = 300) -> PairingPayload {
        PairingPayload(code: code, token: "token-\(code)", expiresAt: expiresIn.map { now.addingTimeInterval($0) })
    }

    /// A code of protocol v2, which names its host and the host's key.
    private static func keyed(_ host: AutoPairing.Host, addr: String? = nil, code: String = "123456") -> PairingPayload
    {
        PairingPayload(
            code: code,
            token: "token-\(code)",
            expiresAt: now.addingTimeInterval(300),
            version: 2,
            host: host.id,
            spki: pin,
            port: 7879,
            addr: addr
        )
    }

    /// A machine, and all that it has said.
    private struct Run {
        var machine: AutoPairing
        var reports: [AutoPairing.Report] = []
        var now = AutoPairingTests.now

        init(_ change: (inout AutoPairing.Rules) -> Void = { _ in }) {
            var rules = AutoPairing.Rules()
            change(&rules)
            machine = AutoPairing(rules: rules)
        }

        /// The actions that are not reports.
        mutating func take(_ events: AutoPairing.Event...) -> [AutoPairing.Action] {
            var others: [AutoPairing.Action] = []
            for event in events {
                for action in machine.take(event, now: now) {
                    if case .report(let report) = action { reports.append(report) } else { others.append(action) }
                }
            }
            return others
        }

        func count(_ isWanted: (AutoPairing.Report) -> Bool) -> Int { reports.count(where: isWanted) }
    }

    @Test("It pairs as soon as both are there, whichever comes first, and ends")
    func bothOrders() {
        let code = Self.keyed(Self.shed)
        var run = Run()
        #expect(run.take(.settled, .appeared(Self.shed)) == [])
        #expect(run.take(.saw(code)) == [.ask(code, .host(Self.shed.id))])
        #expect(run.take(.routed(.verified)) == [.send])
        #expect(run.take(.paired(id: Self.shed.id, name: "Shed")) == [.finish(Self.shed.id)])
        #expect(run.take(.saw(Self.keyed(Self.barn))) == [], "it is over")

        var other = Run()
        #expect(other.take(.saw(code), .settled) == [])
        #expect(other.reports.contains(.waitingFor(hostID: Self.shed.id)))
        #expect(other.take(.appeared(Self.barn)) == [], "that is another")
        #expect(other.take(.appeared(Self.shed)) == [.ask(code, .host(Self.shed.id))])
    }

    @Test("It says what it waits for, once")
    func waiting() {
        var run = Run()
        _ = run.take(.tick)
        #expect(run.reports == [], "nothing is known yet")
        _ = run.take(.settled, .tick, .tick)
        #expect(run.reports == [.waiting(hosts: [], hasCode: false)])
        _ = run.take(.appeared(Self.shed), .tick, .appeared(Self.shed))
        #expect(run.reports.last == .waiting(hosts: ["Shed"], hasCode: false))
        #expect(run.reports.count == 2)
    }

    @Test("A code without a key goes to the only host in sight, and not before all that are there are known")
    func onlyHost() {
        let code = Self.plain("111111")
        var run = Run()
        #expect(run.take(.appeared(Self.shed), .saw(code)) == [])
        #expect(run.take(.settled) == [.ask(code, .host(Self.shed.id))])
    }

    @Test("A code without a key goes nowhere where several hosts are in sight, nor when one of them leaves")
    func severalHosts() {
        let code = Self.plain("111111")
        var run = Run()
        #expect(run.take(.appeared(Self.shed), .appeared(Self.barn), .settled, .saw(code)) == [])
        #expect(run.reports.contains(.ambiguous([Self.barn, Self.shed])))
        #expect(run.take(.vanished(id: Self.barn.id), .tick) == [], "anyone can say goodbye in another's name")
        let next = Self.plain("222222")
        #expect(run.take(.saw(next)) == [.ask(next, .host(Self.shed.id))], "a new code is another matter")
    }

    @Test("A second host that shows up while the first is asked keeps the code back")
    func lateRival() {
        let code = Self.plain("111111")
        var run = Run()
        #expect(run.take(.settled, .appeared(Self.shed), .saw(code)) == [.ask(code, .host(Self.shed.id))])
        #expect(run.take(.appeared(Self.barn)) == [])
        #expect(run.take(.routed(.verified)) == [])
        #expect(run.take(.vanished(id: Self.barn.id), .tick) == [])
        #expect(run.count { if case .ambiguous = $0 { true } else { false } } >= 1)
    }

    @Test("Hosts of the same name are not told apart by it, nor machines that claim to be the same host")
    func sameName() {
        let twin = AutoPairing.Host(id: "cccc000011112222", name: "Shed", advertisedID: "cccc000011112222")
        let code = Self.plain("111111")
        var byName = Run { $0.only = ["shed"] }
        #expect(byName.take(.appeared(Self.shed), .appeared(twin), .settled, .saw(code)) == [])
        var byID = Run { $0.only = ["aaaa"] }
        #expect(
            byID.take(.appeared(Self.shed), .appeared(twin), .settled, .saw(code)) == [.ask(code, .host(Self.shed.id))]
        )
        var claimed = Self.shed
        claimed.isAmbiguous = true
        var several = Run()
        #expect(several.take(.appeared(claimed), .settled, .saw(code)) == [])
        let keyed = Self.keyed(Self.shed)
        #expect(several.take(.saw(keyed)) == [.ask(keyed, .host(Self.shed.id))], "the key decides")
    }

    @Test("A code with a key goes to the host that it names and to no other, also where there are several")
    func keyedAmongSeveral() {
        let twin = AutoPairing.Host(id: "cccc000011112222", name: "Shed", advertisedID: "cccc000011112222")
        let code = Self.keyed(Self.shed)
        var run = Run()
        #expect(run.take(.settled, .appeared(twin), .appeared(Self.barn), .saw(code)) == [])
        #expect(run.take(.appeared(Self.shed)) == [.ask(code, .host(Self.shed.id))])
    }

    @Test("A code that has its host's address is tried there, without an advert")
    func namedAddress() {
        let code = Self.keyed(Self.shed, addr: "192.168.1.5")
        var run = Run()
        #expect(run.take(.saw(code)) == [.ask(code, .named)])
        #expect(run.take(.unreachable("no answer")) == [])
        #expect(run.take(.appeared(Self.shed)) == [.ask(code, .host(Self.shed.id))], "nothing was sent")
    }

    @Test("A host that cannot be reached is tried again after a while, and is told of once")
    func unreachable() {
        let code = Self.keyed(Self.shed)
        var run = Run()
        _ = run.take(.settled, .appeared(Self.shed), .saw(code), .unreachable("no answer"))
        #expect(run.take(.tick) == [])
        run.now += AutoPairing.retryPause
        #expect(run.take(.tick) == [.ask(code, .host(Self.shed.id))])
        _ = run.take(.unreachable("no answer"))
        #expect(run.count { $0 == .unreachable("no answer") } == 1)
    }

    @Test("Each code is used once, and after a failure the wait goes on")
    func once() {
        let code = Self.keyed(Self.shed)
        var run = Run()
        _ = run.take(.settled, .appeared(Self.shed), .saw(code), .routed(.verified))
        #expect(run.take(.failed("the host does not know this code")) == [])
        #expect(run.reports.contains(.failed("the host does not know this code")))
        #expect(run.take(.saw(code), .tick, .appeared(Self.shed)) == [])
        let next = Self.keyed(Self.shed, code: "654321")
        #expect(run.take(.saw(next)) == [.ask(next, .host(Self.shed.id))])
    }

    @Test("Whether a code has expired is for its host to say: this machine's clock may be ahead")
    func expired() {
        var run = Run()
        let old = Self.plain("111111", expiresIn: -86400)
        #expect(run.take(.settled, .appeared(Self.shed), .saw(old)) == [.ask(old, .host(Self.shed.id))])
        #expect(run.take(.routed(.legacy(accepted: true))) == [.send])
        #expect(run.take(.expired) == [])
        #expect(run.reports.suffix(2) == [.expired, .waiting(hosts: ["Shed"], hasCode: false)])
        #expect(run.take(.saw(old), .tick) == [], "it was used")
        #expect(run.count { $0 == .expired } == 1, "once")
        let code = Self.plain("222222", expiresIn: nil)
        #expect(run.take(.saw(code)) == [.ask(code, .host(Self.shed.id))])
    }

    @Test("A code that seems to have expired waits a minute for its host, and no longer")
    func expiredWithoutHost() {
        var run = Run()
        _ = run.take(.settled, .saw(Self.keyed(Self.barn)))
        run.now += 301
        #expect(run.take(.tick) == [])
        #expect(run.reports.suffix(2) == [.expired, .waiting(hosts: [], hasCode: false)], "it has waited long enough")
        var old = Self.keyed(Self.barn, code: "654321")
        old.expiresAt = run.now.addingTimeInterval(-600)
        _ = run.take(.saw(old))
        run.now += AutoPairing.patience - 1
        #expect(run.take(.appeared(Self.barn)) == [.ask(old, .host(Self.barn.id))])
        _ = run.take(.unreachable("no answer"))
        run.now += 1
        #expect(run.take(.tick) == [])
        #expect(run.count { $0 == .expired } == 2)
    }

    @Test("It knows since when the code that is tried was known")
    func seenAt() {
        var run = Run()
        let code = Self.keyed(Self.shed)
        _ = run.take(.settled, .saw(code))
        run.now += 42
        #expect(run.take(.appeared(Self.shed), .routed(.verified)) == [.ask(code, .host(Self.shed.id)), .send])
        #expect(run.machine.seenAt == Self.now)
    }

    @Test("A host without proof needs consent, and gets nothing before")
    func legacy() {
        let code = Self.plain("111111")
        func route(_ route: AutoPairing.Route, _ change: (inout AutoPairing.Rules) -> Void) -> (
            [AutoPairing.Action], [AutoPairing.Report]
        ) {
            var run = Run(change)
            _ = run.take(.settled, .appeared(Self.shed), .saw(code))
            let actions = run.take(.routed(route), .tick, .appeared(Self.shed))
            return (actions, run.reports)
        }
        let refused = route(.legacy(accepted: false)) { _ in }
        #expect(refused.0 == [])
        #expect(refused.1.contains(.legacyRefused("Shed")))
        #expect(route(.legacy(accepted: false)) { $0.allowsLegacy = true }.0 == [.send])
        #expect(route(.legacy(accepted: true)) { _ in }.0 == [.send], "it was accepted before")
        #expect(route(.legacy(accepted: true)) { $0.requiresProof = true }.0 == [])
        let limited = route(.legacy(accepted: false)) {
            $0.allowsLegacy = true
            $0.limitsPermissions = true
        }
        #expect(limited.0 == [] && limited.1.contains(.permissionsUnknown("Shed")))
        let downgrade = route(.downgrade(of: "Den")) { $0.allowsLegacy = true }
        #expect(downgrade.0 == [] && downgrade.1.contains(.downgrade("Shed", of: "Den")))
        #expect(route(.verified) { $0.requiresProof = true }.0 == [.send])
    }

    @Test("Only the hosts that are named are paired with, by name or id", arguments: ["Shed", "SHED", "aaaa0000"])
    func only(word: String) {
        var run = Run { $0.only = [word] }
        let plain = Self.plain("111111")
        #expect(run.take(.settled, .appeared(Self.barn), .saw(plain)) == [])
        #expect(run.take(.saw(Self.keyed(Self.barn))) == [])
        #expect(run.reports.contains(.excluded("Barn")))
        #expect(run.take(.appeared(Self.shed)) == [.ask(plain, .host(Self.shed.id))], "the other does not count")
    }

    @Test("A host that only its name may let in is not asked before it is in sight")
    func nameUnknown() {
        let code = Self.keyed(Self.shed, addr: "192.168.1.5")
        var byName = Run { $0.only = ["Shed"] }
        #expect(byName.take(.settled, .saw(code)) == [])
        #expect(byName.take(.appeared(Self.shed)) == [.ask(code, .host(Self.shed.id))])
        var byID = Run { $0.only = ["aaaa"] }
        #expect(byID.take(.saw(code)) == [.ask(code, .named)])
    }

    @Test("A host that is named by its address is the one that any code is of")
    func namedHost() {
        let host = AutoPairing.Host(id: "dddd000011112222", name: "192.168.1.5:7878", advertisedID: nil, isNamed: true)
        for code in [Self.plain("111111"), Self.keyed(Self.shed), Self.keyed(Self.shed, addr: "192.168.1.9")] {
            var run = Run()
            #expect(run.take(.appeared(host), .settled, .saw(code)) == [.ask(code, .host(host.id))])
        }
    }

    @Test("As a service it goes on, and leaves alone whom it has paired with")
    func keeps() {
        var run = Run { $0.keeps = true }
        _ = run.take(.settled, .appeared(Self.shed), .saw(Self.keyed(Self.shed)), .routed(.verified))
        #expect(run.take(.paired(id: Self.shed.id, name: "Shed")) == [])
        let next = Self.keyed(Self.shed, code: "654321")
        #expect(run.take(.saw(next)) == [], "a host shows another code after each pairing")
        #expect(run.reports.contains(.alreadyPaired("Shed")))
        let other = Self.keyed(Self.barn)
        #expect(run.take(.appeared(Self.barn), .saw(other)) == [.ask(other, .host(Self.barn.id))])
    }

    @Test("A newer code of a host takes the place of the one that waits, and one at a time is dealt with")
    func newer() {
        var run = Run()
        let (first, second) = (Self.keyed(Self.shed), Self.keyed(Self.shed, code: "654321"))
        _ = run.take(.settled, .saw(first), .saw(second))
        #expect(run.take(.appeared(Self.shed)) == [.ask(second, .host(Self.shed.id))])
        let other = Self.keyed(Self.barn)
        #expect(run.take(.appeared(Self.barn), .saw(other)) == [])
        #expect(run.take(.routed(.verified)) == [.send])
        #expect(run.take(.failed("no")) == [.ask(other, .host(Self.barn.id))])
    }

    @Test("A code that calls itself of protocol 2 and names no key is not sent")
    func downgradedCode() {
        var code = Self.plain("111111")
        code.version = 2
        var run = Run()
        #expect(run.take(.settled, .appeared(Self.shed), .saw(code)) == [])
        #expect(run.count { if case .failed = $0 { true } else { false } } == 1)
    }

    @Test("When discovery is interrupted, a code without a key waits until it is sure again who is there")
    func interrupted() {
        let code = Self.plain("111111")
        var run = Run()
        #expect(run.take(.settled, .appeared(Self.shed), .interrupted, .saw(code)) == [])
        #expect(run.take(.settled) == [.ask(code, .host(Self.shed.id))])
    }
}
