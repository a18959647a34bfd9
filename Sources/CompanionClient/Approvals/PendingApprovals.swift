package import CompanionWire

/// Compares the lists of waiting requests that a host sends one after the other: finds the requests that are new, and
/// those that are gone from the list, whose state has to be asked for.
package struct PendingApprovals: Sendable {
    /// Decided requests whose agent may still go on.
    private static let decidedLimit = 100

    private var waiting: [ByteText: Approval] = [:]
    private var decided: [Approval] = []

    init() {}

    /// Takes a list.
    ///
    /// - Returns: The requests that were not there before, in the order of the list, and those that were and are no
    ///   more. The latter stay in it until ``settle(_:as:)`` is told what became of them.
    package mutating func take(_ list: [Approval]) -> (new: [Approval], missing: [Approval]) {
        let listed = Set(list.map { ByteText($0.id) })
        let missing = waiting.filter { !listed.contains($0.key) }.map(\.value).sorted { $0.id < $1.id }
        var new: [Approval] = []
        for approval in list where waiting.updateValue(approval, forKey: ByteText(approval.id)) == nil {
            new.append(approval)
        }
        return (new, missing)
    }

    /// Takes the result of a request.
    ///
    /// - Parameter now: The request as it is; nil where the host has it no more.
    /// - Returns: Whether this is news: not for one that still waits (lists may be behind), or is not known.
    package mutating func settle(_ id: String, as now: Approval?) -> Bool {
        guard now?.isPending != true, waiting.removeValue(forKey: ByteText(id)) != nil else { return false }
        if let now { decided = decided.suffix(Self.decidedLimit - 1) + [now] }
        return true
    }

    /// Says which agents went on.
    ///
    /// - Returns: Their requests, as far as they were seen before; each once.
    package mutating func takeContinued(_ ids: Set<ByteText>) -> [Approval] {
        let found = decided.filter { ids.contains(ByteText($0.id)) }
        decided.removeAll { ids.contains(ByteText($0.id)) }
        return found
    }
}
