/// How much work goes into one picture.
struct SearchEffort: Sendable {
    /// Triples of finder patterns that are looked at in a level.
    var mostTriples: Int
    /// Fits that are refined and read in a level.
    var mostFits: Int
    /// Modules of symbols that are followed over bent paper, which takes a microsecond or two each; all of them in one
    /// picture. Twice a symbol of version 40, or twenty of version 10.
    var mostBentModules = 0
    /// Whether zbar looks at the whole picture, too, once all else found nothing.
    var readsWhole = false
    /// Of so many rows one is looked along, or of two where there are many.
    var rows = 1
    /// With which effort the next finer and coarser sizes are looked at as well once enough was found; none to leave
    /// it.
    var neighbours: [SearchEffort] = []

    /// The only picture there is.
    static let picture = SearchEffort(
        mostTriples: 40,
        mostFits: 10,
        mostBentModules: 65_000,
        readsWhole: true,
        neighbours: [glance]
    )
    /// The same picture made larger, after it was looked at as it is.
    static let enlarged = SearchEffort(mostTriples: 40, mostFits: 10, mostBentModules: 12_000, neighbours: [glance])
    /// For a second symbol beside one that was found: what is smaller than four rows in the core of its finder patterns
    /// is left.
    private static let glance = SearchEffort(mostTriples: 16, mostFits: 6, rows: 4)
    /// One of thirty a second: what is hard to read in this one is easier in the next.
    static let frame = SearchEffort(mostTriples: 16, mostFits: 6)
}
