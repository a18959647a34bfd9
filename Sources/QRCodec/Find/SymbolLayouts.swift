/// The layouts of the versions that were asked for.
final class SymbolLayouts {
    private var made: [Int: SymbolLayout] = [:]

    func of(version: Int) -> SymbolLayout {
        if let layout = made[version] { return layout }
        let layout = SymbolLayout(version: version)
        made[version] = layout
        return layout
    }
}
