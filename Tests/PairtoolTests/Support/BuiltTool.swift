import FoundationEssentials

/// The tool as it was built together with the tests.
enum BuiltTool {
    /// The path of the binary: it stands beside the one that runs the tests.
    static let path: String = {
        let test = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
        return String(test[..<(test.lastIndex(of: "/") ?? test.startIndex)]) + "/pairtool"
    }()
}
