import Discovery
import Testing

@Suite("Noticing times in which nothing was heard")
struct InterruptionTests {
    @Test("Looks that come in time, or a little late, are no sleep; the next is measured from the last")
    func awake() {
        let start = ContinuousClock.now
        var detector = SleepDetector(at: start)
        #expect(detector.periodPassed(at: start + .seconds(2)) == nil)
        #expect(detector.periodPassed(at: start + .seconds(8)) == nil)
        #expect(detector.periodPassed(at: start + .seconds(14)) == nil)
    }

    @Test("A look that comes much too late tells how long the sleep was, and tells it once")
    func asleep() {
        let start = ContinuousClock.now
        var detector = SleepDetector(at: start)
        #expect(detector.periodPassed(at: start + .seconds(3602)) == .seconds(3600))
        #expect(detector.periodPassed(at: start + .seconds(3604)) == nil)
    }

    @Test("A link that has come up once more is back, even between two looks, and is told once")
    func link() {
        let (first, second) = (LinkDetector.Link(index: 2, name: "eth0"), LinkDetector.Link(index: 3, name: "wlan0"))
        var detector = LinkDetector([first: 1, second: 4])
        #expect(detector.look([first: 1, second: 4]) == nil)
        #expect(detector.look([first: 1, second: 5]) == "wlan0")
        #expect(detector.look([first: 1, second: 5]) == nil)
    }

    @Test("An interface that is new, gone, or another one of the same name is not a link that is back")
    func interfaces() {
        var detector = LinkDetector([.init(index: 2, name: "eth0"): 1])
        #expect(detector.look([.init(index: 2, name: "eth0"): 1, .init(index: 7, name: "veth1"): 9]) == nil)
        #expect(detector.look([.init(index: 2, name: "eth0"): 1]) == nil)
        #expect(detector.look([.init(index: 8, name: "eth0"): 5]) == nil)
    }
}
