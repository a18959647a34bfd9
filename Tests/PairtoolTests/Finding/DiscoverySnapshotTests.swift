import Discovery
import Testing

@testable import CompanionApp
@testable import pairtool

@Suite struct DiscoverySnapshotTests {
    @Test("What kept one engine from all hosts is not said of the one that takes its place")
    func otherEngine() {
        var snapshot = DiscoverySnapshot(engine: .daemon)
        snapshot.take(.incomplete(.engineFull(limit: 4, used: 3)))
        snapshot.take(.resumed(.daemon))
        #expect(snapshot.incomplete.count == 1)
        snapshot.take(.resumed(.embedded))
        #expect(snapshot.incomplete.isEmpty && snapshot.engine == .embedded)
    }
}
