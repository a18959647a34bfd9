import Glibc
import Testing

@testable import Terminal

struct SignalEchoTests {
    @Test("A signal that comes twice at once counts once; another one counts, however soon it comes")
    func echoes() {
        var signals = SignalEchoes()
        let start = ContinuousClock.now
        let come: [(Int32, Int)] = [
            (SIGINT, 0), (SIGINT, 100), (SIGTERM, 150), (SIGHUP, 160), (SIGTERM, 170), (SIGINT, 400), (SIGINT, 699),
        ]
        let counts = come.map { signals.isNew($0.0, at: start + .milliseconds($0.1)) }
        #expect(counts == [true, false, true, true, false, true, false])
    }
}
