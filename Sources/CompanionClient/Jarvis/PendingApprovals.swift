/// What a daemon's lists of waiting requests mean, one after the other: which requests are new, and which are gone from
/// the list and have to be asked about.
package struct PendingApprovals: Sendable {
    private var waiting: [JarvisApprovalID: JarvisApproval] = [:]

    package init() {}

    /// Takes a list.
    ///
    /// - Returns: The requests that were not there before, in the order of the list, and those that were and are no
    ///   more. The latter stay in it until ``settle(_:as:)`` is told what became of them.
    package mutating func take(_ list: [JarvisApproval]) -> (new: [JarvisApproval], missing: [JarvisApproval]) {
        let listed = Set(list.map(\.id))
        let missing = waiting.values.filter { !listed.contains($0.id) }
            .sorted { $0.id.description < $1.id.description }
        var new: [JarvisApproval] = []
        for approval in list where waiting.updateValue(approval, forKey: approval.id) == nil { new.append(approval) }
        return (new, missing)
    }

    /// Says what became of a request.
    ///
    /// - Parameter status: Nil where the daemon has it no more.
    /// - Returns: The request, where this is news: nil for one that still waits (lists may be behind), or is not known.
    package mutating func settle(_ id: JarvisApprovalID, as status: JarvisApprovalStatus?) -> JarvisApproval? {
        status == .pending ? nil : waiting.removeValue(forKey: id)
    }
}
