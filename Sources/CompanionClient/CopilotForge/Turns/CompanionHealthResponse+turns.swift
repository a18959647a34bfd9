package import CompanionWire
package import FoundationEssentials

extension CompanionHealthResponse {
    /// How long a turn may take at this host, with a margin for what is on its way; nil where the host does not say what
    /// it is.
    ///
    /// Deployed Macs end every turn 120 s after it began (protocol v1, The stream). Other hosts of v1 let an agent work
    /// for as long as it gives signs of life.
    package var turnLimit: Duration? {
        service == "copilotforge-sidecar" ? .seconds(135) : nil
    }

    /// Whether another answer comes from another process, so that what ran in this one is lost.
    func isOtherProcess(than other: CompanionHealthResponse) -> Bool {
        guard let began = processStartedAtMs, let otherBegan = other.processStartedAtMs else { return false }
        // Some compute it anew for every answer, and are off by a little.
        return abs(otherBegan - began) > 1000
    }

    /// Whether the host's process began after a time on the host's clock. A host that does not say when it began
    /// did not.
    package func began(after time: Date) -> Bool {
        processStartedAtMs.map { $0 / 1000 > time.timeIntervalSince1970 } ?? false
    }
}
