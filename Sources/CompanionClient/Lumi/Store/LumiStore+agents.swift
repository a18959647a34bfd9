package import FoundationEssentials

/// Agents that were made, changed or deleted here: apart from what was pulled, so that no pull undoes it, and nothing
/// of it goes to the Mac.
extension LumiStore {
    /// The origin of an agent.
    package enum AgentOrigin: String, Sendable, Codable {
        case pulled
        /// Pulled, and changed here: a copy counts in its place.
        case edited
        case here
    }

    private struct OwnAgents: Codable {
        var version = 1
        /// Those made here, and the copies of pulled ones.
        var agents: [LumiAgent] = []
        /// Those that are not shown if they are pulled.
        var deleted: Set<UUID> = []
    }

    var ownAgentsPath: String { directory + "/agents_here.json" }

    /// The agents as they were pulled, with what was done to them here; nil where none were pulled or made.
    package func loadAgents() throws(LumiStoreError) -> LumiItems<LumiAgent>? {
        let pulled = try loadPulledAgents()
        guard let own = try ownAgents() else { return pulled }
        var list = pulled ?? LumiItems()
        let copies = Dictionary(own.agents.map { ($0.id, $0) }) { $1 }
        let known = Set(list.items.map(\.id))
        list.items = list.items.filter { !own.deleted.contains($0.id) }.map { copies[$0.id] ?? $0 }
        list.items += own.agents.filter { !known.contains($0.id) }
        return list
    }

    /// Returns the origin of an agent: `here` if it was not pulled. For many agents, use ``origins()``.
    package func origin(of id: UUID) throws(LumiStoreError) -> AgentOrigin { try origins()(id) }

    /// Reads the files once, and returns a function that gives the origin of each agent by its id.
    package func origins() throws(LumiStoreError) -> (UUID) -> AgentOrigin {
        let pulled = Set(try loadPulledAgents()?.items.map(\.id) ?? [])
        let own = Set(try ownAgents()?.agents.map(\.id) ?? [])
        return { id in pulled.contains(id) ? own.contains(id) ? .edited : .pulled : .here }
    }

    /// Keeps a new agent, or a changed one. A pulled one stays as it is beneath its copy.
    package func keep(_ agent: LumiAgent) throws {
        try changeAgents { own in
            own.agents.removeAll { $0.id == agent.id }
            own.agents.append(agent)
            own.deleted.remove(agent.id)
        }
    }

    /// Deletes an agent here. A pulled one stays hidden until it is restored, even if the Mac lists it again.
    package func delete(_ id: UUID) throws {
        try changeAgents { own in
            own.agents.removeAll { $0.id == id }
            own.deleted.insert(id)
        }
    }

    /// The pulled agents that were changed or deleted here, as they were pulled.
    package func changedAgents() throws(LumiStoreError) -> [LumiAgent] {
        guard let own = try ownAgents() else { return [] }
        let ids = Set(own.agents.map(\.id)).union(own.deleted)
        return try loadPulledAgents()?.items.filter { ids.contains($0.id) } ?? []
    }

    /// Takes back what was done here to a pulled agent.
    package func restore(_ id: UUID) throws {
        try changeAgents { own in
            own.agents.removeAll { $0.id == id }
            own.deleted.remove(id)
        }
    }

    private func ownAgents() throws(LumiStoreError) -> OwnAgents? {
        try read(
            ownAgentsPath,
            newest: OwnAgents().version,
            remedy: "move it away: mv '\(ownAgentsPath)' '\(ownAgentsPath).damaged'"
        )
    }

    private func changeAgents(_ change: (inout OwnAgents) -> Void) throws {
        try withLock {
            var own = try ownAgents() ?? OwnAgents()
            change(&own)
            try writeJSON(own, to: ownAgentsPath)
        }
    }

    /// Whether the file of what was done here holds what it should.
    func checkOwnAgents() throws(LumiStoreError) { _ = try ownAgents() }
}
