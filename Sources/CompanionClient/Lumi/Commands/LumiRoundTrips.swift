/// How long answers took. The wire does not say: it is measured here.
package struct LumiRoundTrips: Sendable, Hashable {
    /// Shortest first.
    package let sorted: [Duration]

    /// - Returns: nil where nothing was measured.
    package init?(_ times: [Duration]) {
        guard !times.isEmpty else { return nil }
        sorted = times.sorted()
    }

    package var shortest: Duration { sorted[0] }
    package var longest: Duration { sorted[sorted.count - 1] }

    /// The one in the middle; of an even number the mean of the two.
    package var median: Duration {
        let middle = sorted.count / 2
        return sorted.count % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
    }
}
