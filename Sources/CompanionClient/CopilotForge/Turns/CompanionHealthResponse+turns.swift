package import CompanionWire
package import FoundationEssentials

extension CompanionHealthResponse {
    /// How long a turn may take at this host, with a margin for network delay; nil if the host does not identify its
    /// service.
    ///
    /// Deployed Macs end every turn 120 s after it began (protocol v1, The stream). Other v1 hosts let an agent work as
    /// long as it shows signs of life.
    package var turnLimit: Duration? {
        service == "copilotforge-sidecar" ? .seconds(135) : nil
    }

    /// Whether another health answer comes from another process, so that the turns of this process are lost.
    func isOtherProcess(than other: CompanionHealthResponse) -> Bool {
        guard let began = processStartedAtMs, let otherBegan = other.processStartedAtMs else { return false }
        // Some hosts recompute the time for every answer, which makes it vary a little.
        return abs(otherBegan - began) > 1000
    }

    /// Whether the host's process began after a time on the host's clock; false if the host does not report when it
    /// began.
    package func began(after time: Date) -> Bool {
        processStartedAtMs.map { $0 / 1000 > time.timeIntervalSince1970 } ?? false
    }
}
