/// How much an engine takes.
package struct BrowseLimits: Sendable, Hashable {
    /// Resolvers at a time. The Avahi daemon allows a client 1,024 objects by default.
    package var resolvers: Int
    /// Records of one network that the engine keeps; nil for no limit.
    package var cacheEntries: Int?

    package init(resolvers: Int, cacheEntries: Int? = nil) {
        self.resolvers = max(1, resolvers)
        self.cacheEntries = cacheEntries
    }
}
