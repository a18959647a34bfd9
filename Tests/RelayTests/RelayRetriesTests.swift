import Testing

@testable import Relay

@Suite("The rhythm in which a host comes back to a relay")
struct RelayRetriesTests {
    @Test("The waits double from 1 s to 30 s, and a random share of them is waited")
    func waits() {
        var retries = RelayRetries()
        let limits = (0..<8).map { _ in retries.noteFailure(.unreachable, at: .zero, random: 1).wait }
        #expect(limits == [1, 2, 4, 8, 16, 30, 30, 30].map { .seconds($0) })
        #expect(retries.noteFailure(.unreachable, at: .zero, random: 0.5).wait == .seconds(15))
        #expect(retries.noteFailure(.unreachable, at: .zero, random: 0).wait == .zero)
    }

    @Test("A host that was joined for a minute starts over, one that is thrown out at once does not")
    func startsOver() {
        var retries = RelayRetries()
        _ = retries.noteFailure(.unreachable, at: .zero, random: 1)
        retries.noteJoin(at: .seconds(1))
        #expect(retries.noteFailure(.closed, at: .seconds(2), random: 1).wait == .seconds(2))
        retries.noteJoin(at: .seconds(10))
        #expect(retries.noteFailure(.closed, at: .seconds(70), random: 1).wait == .seconds(1))
    }

    @Test("“Already connected” is a failure at first, none for two minutes after a loss, and then one again")
    func alreadyConnected() {
        var retries = RelayRetries()
        #expect(retries.noteFailure(.alreadyConnected, at: .zero, random: 0).isReported)
        retries.noteJoin(at: .seconds(5))
        #expect(retries.noteFailure(.closed, at: .seconds(100), random: 0).isReported)
        #expect(!retries.noteFailure(.alreadyConnected, at: .seconds(101), random: 0).isReported)
        #expect(retries.noteFailure(.unreachable, at: .seconds(102), random: 0).isReported)
        #expect(!retries.noteFailure(.alreadyConnected, at: .seconds(219), random: 0).isReported)
        #expect(retries.noteFailure(.alreadyConnected, at: .seconds(220), random: 0).isReported)
    }
}
