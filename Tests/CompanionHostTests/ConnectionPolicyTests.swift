import CompanionWire
import FoundationEssentials
import Testing

@testable import CompanionHost

@Suite("Limits of connections")
struct ConnectionPolicyTests {
    private let start = Date(timeIntervalSince1970: 1_800_000_000)
    private let first = IPAddress("10.0.0.1")!
    private let second = IPAddress("10.0.0.2")!

    private func time(_ seconds: Double) -> Date { start.addingTimeInterval(seconds) }

    @Test("An address at its limit gets no more connections until one ends, and others get theirs")
    func perAddress() {
        var policy = ConnectionPolicy(limits: ConnectionLimits(perAddress: 3))
        #expect(policy.open([1, 2, 3, 4], from: first, at: start) == [1, 2, 3])
        #expect(policy.open([100], from: second, at: start) == [100])
        #expect(policy.count == 4)
        policy.close(2)
        #expect(policy.open([5, 6], from: first, at: start) == [5])
    }

    @Test("An address has so many handshakes that are not complete; beyond that the oldest gives way to a new one")
    func handshakes() {
        var policy = ConnectionPolicy(limits: ConnectionLimits(perAddress: 4, handshakesPerAddress: 2))
        #expect(policy.open([1], from: first, isSecure: true, at: time(0)) == [1])
        #expect(policy.open([2], from: first, isSecure: true, at: time(1)) == [2])
        let third = policy.open(3, from: first, isSecure: true, now: time(2))
        #expect(third.isOpen && third.instead == 1 && policy.count == 2)
        let elsewhere = policy.open(100, from: second, isSecure: true, now: time(2))
        #expect(elsewhere.isOpen && elsewhere.instead == nil)
        #expect(policy.enter(.idle, by: [2], at: time(3)) == [2])
        let fourth = policy.open(4, from: first, isSecure: true, now: time(3))
        #expect(fourth.isOpen && fourth.instead == nil, "one that is complete makes room")
        #expect(policy.open([5, 6], from: first, at: time(4)) == [5], "plain HTTP has none")
        let full = policy.open(7, from: first, isSecure: true, now: time(4))
        #expect(full.isOpen && full.instead == 3, "in the place of another one")
        #expect(policy.enter(.idle, by: [4, 7], at: time(5)) == [4, 7])
        let last = policy.open(8, from: first, isSecure: true, now: time(5))
        #expect(!last.isOpen && last.instead == nil)
    }

    @Test("An address has so many bodies that are not whole; those of devices are let through")
    func bodies() {
        var policy = ConnectionPolicy(limits: ConnectionLimits(bodiesPerAddress: 2))
        #expect(policy.open([1, 2, 3, 4, 5, 6], from: first, at: start).count == 6)
        policy.trust(4, true)
        #expect(policy.enter(.body, by: [1, 2, 3], at: start) == [1, 2])
        #expect(policy.count == 5, "the refused one is forgotten")
        #expect(policy.enter(.body, by: [4], at: start) == [4])
        #expect(policy.enter(.answer, by: [1], at: start) == [1])
        #expect(policy.enter(.body, by: [5], at: start) == [], "the device's counts as well")
        #expect(policy.enter(.answer, by: [2], at: start) == [2])
        #expect(policy.enter(.body, by: [6], at: start) == [6])
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
        policy.trust(1, isTrusted)
        policy.trust(3, true)
        _ = policy.enter(phase, by: 1, now: time(0))
        _ = policy.enter(.answer, by: 3, now: time(0))
        #expect(policy.takeOverdue(now: time(seconds - 0.01)).isEmpty)
        #expect(policy.takeOverdue(now: time(seconds)) == [.init(id: 1, phase: phase)])
        #expect(policy.takeOverdue(now: time(100_000)).isEmpty)
        #expect(policy.count == 2)
    }

    @Test("A byte now and then does not make a phase last longer")
    func dripping() {
        var policy = ConnectionPolicy(limits: ConnectionLimits(body: .seconds(30)))
        _ = policy.open(1, from: first, isSecure: false, now: time(0))
        for second in 0..<30 { _ = policy.enter(.body, by: 1, now: time(Double(second))) }
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

extension ConnectionPolicy {
    /// - Returns: The connections that are let in.
    fileprivate mutating func open(
        _ ids: [ID],
        from address: IPAddress,
        isSecure: Bool = false,
        at time: Date
    ) -> [ID] {
        ids.filter { open($0, from: address, isSecure: isSecure, now: time).isOpen }
    }

    /// - Returns: The connections that may go on.
    fileprivate mutating func enter(_ phase: Phase, by ids: [ID], at time: Date) -> [ID] {
        ids.filter { enter(phase, by: $0, now: time) }
    }
}
