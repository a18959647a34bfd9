package import FoundationEssentials

/// Which agents the user marked, here and not on the Mac.
extension LumiStore {
    private struct Stars: Codable {
        var agents: Set<UUID> = []
    }

    var starsPath: String { directory + "/stars.json" }

    /// The ids of the marked agents.
    package func starred() throws(LumiStoreError) -> Set<UUID> {
        let stars: Stars? = try read(starsPath, remedy: "remove it: rm '\(starsPath)'")
        return stars?.agents ?? []
    }

    package func star(_ id: UUID, _ isStarred: Bool) throws {
        try withLock {
            var stars = Stars(agents: try starred())
            if isStarred { stars.agents.insert(id) } else { stars.agents.remove(id) }
            try writeJSON(stars, to: starsPath)
        }
    }
}
