import CompanionClient

extension LeftOutItems {
    /// Reports the items in a host's lists that could not be read.
    func report(to output: Output) {
        let counts = counts
        for kind in Kind.allCases {
            guard let count = counts[kind] else { continue }
            let items = count == 1 ? String(kind.rawValue.dropLast()) : kind.rawValue
            output.warn(
                "host.left_out",
                "\(count) \(items) could not be read and \(count == 1 ? "is" : "are") left out"
            )
        }
    }
}
