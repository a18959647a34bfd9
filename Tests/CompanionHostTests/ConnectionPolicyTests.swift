import CompanionWire
import FoundationEssentials
import Testing

@testable import CompanionHost

@Suite("Who is connected, and who gives way")
struct ConnectionPolicyTests {
    private let start = Date(timeIntervalSince1970: 1_800_000_000)
    private let first = IPAddress("10.0.0.1")!
    private let second = IPAddress("10.0.0.2")!

    private func time(_ seconds: Double) -> Date { start.addingTimeInterval(seconds) }

    /// Opens a connection that is idle.
    private func open(_ id: UInt, _ address: IPAddress, _ policy: inout ConnectionPolicy, at seconds: Double) -> UInt? {
        let (isOpen, instead) = policy.open(id, from: address, isSecure: false, now: time(seconds))
        return isOpen ? instead : 0
    }

    @Test("At the total, the connection that has been idle for longest gives way, whoever comes")
    func total() {
        var policy = ConnectionPolicy(limits: ConnectionLimits(total: 3))
        #expect(open(1, first, &policy, at: 0) == nil)
        #expect(open(2, first, &policy, at: 1) == nil)
        #expect(open(3, second, &policy, at: 2) == nil)
        // The oldest has just asked something.
        #expect(policy.enter(.answer, id: 1, now: time(3)) == nil)
        #expect(policy.enter(.idle, id: 1, now: time(4)) == nil)
        #expect(open(4, second, &policy, at: 5) == 2)
        #expect(open(5, second, &policy, at: 6) == 3)
        #expect(open(6, second, &policy, at: 7) == 1)
        #expect(policy.count == 3)
    }

    @Test("Idle strangers give way first, then sending ones, then idle devices, then strangers that are answered")
    func order() {
        var policy = ConnectionPolicy(limits: ConnectionLimits(total: 7))
        for id in UInt(1)...7 { #expect(open(id, first, &policy, at: Double(id)) == nil) }
        for id in UInt(1)...3 { policy.trust(id, isTrusted: true) }
        _ = policy.enter(.answer, id: 1, now: time(10))
        _ = policy.enter(.body, id: 2, now: time(10))
        // 3: an idle device.
        _ = policy.enter(.answer, id: 4, now: time(10))
        _ = policy.enter(.body, id: 5, now: time(11))
        _ = policy.enter(.head, id: 6, now: time(12))
        // 7: an idle stranger.
        var gone: [UInt] = []
        for id in UInt(11)...15 {
            guard let instead = open(id, second, &policy, at: Double(id)) else { continue }
            gone.append(instead)
            // Whoever came is a device that is being answered.
            policy.trust(id, isTrusted: true)
            _ = policy.enter(.answer, id: id, now: time(20))
        }
        #expect(gone == [7, 5, 6, 3, 4])
        #expect(open(16, second, &policy, at: 30) == 0, "nobody gives way: it is refused")
        #expect(policy.count == 7)
    }

    @Test("An address at its cap loses its own connections, and no others")
    func perAddress() {
        var policy = ConnectionPolicy(limits: ConnectionLimits(total: 100, perAddress: 3))
        #expect(open(100, second, &policy, at: 0) == nil)
        for id in UInt(1)...3 { #expect(open(id, first, &policy, at: Double(id)) == nil) }
        for id in UInt(4)...9 { #expect(open(id, first, &policy, at: Double(id)) == id - 3) }
        #expect(policy.count == 4)
        for id in UInt(7)...9 { _ = policy.enter(.live, id: id, now: time(10)) }
        #expect(open(10, first, &policy, at: 11) == 0)
        #expect(open(101, second, &policy, at: 11) == nil)
        // One that ends makes place.
        policy.close(8)
        #expect(open(10, first, &policy, at: 12) == nil)
    }

    @Test("Of handshakes that are not complete, the oldest of the address gives way")
    func handshakes() {
        var policy = ConnectionPolicy(limits: ConnectionLimits(handshakesPerAddress: 2))
        for id in UInt(1)...3 {
            let (isOpen, instead) = policy.open(id, from: first, isSecure: true, now: time(Double(id)))
            #expect(isOpen && instead == nil)
            _ = policy.enter(.idle, id: 1, now: time(2))
        }
        let (isOpen, instead) = policy.open(4, from: first, isSecure: true, now: time(4))
        #expect(isOpen && instead == 2)
        #expect(policy.open(5, from: second, isSecure: true, now: time(4)) == (true, nil))
        // Plain ones are none.
        #expect(open(6, first, &policy, at: 5) == nil)
    }

    @Test("Of bodies that are not whole, the oldest stranger's gives way, and a device's to devices only")
    func bodies() {
        var policy = ConnectionPolicy(limits: ConnectionLimits(bodiesPerAddress: 2))
        for id in UInt(1)...6 { #expect(open(id, first, &policy, at: Double(id)) == nil) }
        policy.trust(1, isTrusted: true)
        policy.trust(5, isTrusted: true)
        policy.trust(6, isTrusted: true)
        #expect(policy.enter(.body, id: 1, now: time(10)) == nil)
        #expect(policy.enter(.body, id: 2, now: time(11)) == nil)
        #expect(policy.enter(.body, id: 3, now: time(12)) == 2, "not the device's, though it is older")
        #expect(policy.enter(.body, id: 5, now: time(13)) == 3)
        #expect(policy.enter(.body, id: 4, now: time(14)) == 4, "a stranger does not push devices aside")
        #expect(policy.enter(.body, id: 6, now: time(15)) == 1)
    }

    @Test(
        "A phase that lasts too long ends the connection, and waiting for a request or a device's answer does not",
        arguments: [
            (ConnectionPolicy.Phase.handshake, false, 10.0), (.head, false, 11), (.head, true, 11),
            (.body, false, 12), (.body, true, 12), (.answer, false, 13),
        ]
    )
    func deadlines(phase: ConnectionPolicy.Phase, isTrusted: Bool, seconds: Double) {
        let limits = ConnectionLimits(
            handshake: .seconds(10),
            head: .seconds(11),
            body: .seconds(12),
            answer: .seconds(13)
        )
        var policy = ConnectionPolicy(limits: limits)
        _ = policy.open(1, from: first, isSecure: true, now: time(0))
        _ = policy.open(2, from: first, isSecure: false, now: time(0))
        _ = policy.open(3, from: first, isSecure: false, now: time(0))
        policy.trust(1, isTrusted: isTrusted)
        policy.trust(3, isTrusted: true)
        _ = policy.enter(phase, id: 1, now: time(0))
        _ = policy.enter(.answer, id: 3, now: time(0))
        #expect(policy.takeOverdue(now: time(seconds - 0.01)).isEmpty)
        #expect(policy.takeOverdue(now: time(seconds)) == [.init(id: 1, phase: phase)])
        #expect(policy.takeOverdue(now: time(100_000)).isEmpty)
        #expect(policy.count == 2)
    }

    @Test("A byte now and then does not make a phase last longer")
    func dripping() {
        var policy = ConnectionPolicy(limits: ConnectionLimits(body: .seconds(30)))
        _ = open(1, first, &policy, at: 0)
        for second in 0..<30 { _ = policy.enter(.body, id: 1, now: time(Double(second))) }
        #expect(policy.takeOverdue(now: time(30)).map(\.id) == [1])
    }

    @Test("A peer gets one line a minute, which says how many were left out; many peers share one")
    func noise() {
        var log = PeerLogLimiter()
        #expect(log.note("a", now: time(0)) == .init(peer: "a", count: 0))
        #expect(log.note("a", now: time(1)) == nil)
        #expect(log.note("b", now: time(1)) == .init(peer: "b", count: 0))
        #expect(log.note("a", now: time(59.9)) == nil)
        #expect(log.note("a", now: time(60)) == .init(peer: "a", count: 2))
        #expect(log.note("a", now: time(61)) == nil)
        #expect(log.takeOver(now: time(119)) == [], "b had nothing left out, and a's minute is not over")
        #expect(log.takeOver(now: time(120)) == [.init(peer: "a", count: 1)])
        #expect(log.isEmpty)
        var lines = 0
        for peer in 0..<5000 where log.note("\(peer)", now: time(200)) != nil { lines += 1 }
        #expect(lines == PeerLogLimiter.peers + 1)
    }
}
