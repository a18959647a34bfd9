/// A file name pattern with `*` and `?`; the whole name has to match, case does not matter.
///
/// Two pointers instead of recursion: the time is bounded by the product of both lengths.
package struct Glob: Sendable {
    private let pattern: [Character]

    package init(_ pattern: String) {
        self.pattern = Array(pattern.lowercased())
    }

    /// Whether the pattern matches a whole name.
    package func matches(_ name: String) -> Bool {
        let name = Array(name.lowercased())
        var (at, position) = (0, 0)
        var retry: (at: Int, position: Int)?
        while position < name.count {
            if at < pattern.count, pattern[at] == "*" {
                retry = (at, position)
                at += 1
            } else if at < pattern.count, pattern[at] == "?" || pattern[at] == name[position] {
                at += 1
                position += 1
            } else if let last = retry {
                // The last star takes one character more.
                retry = (last.at, last.position + 1)
                at = last.at + 1
                position = last.position + 1
            } else {
                return false
            }
        }
        return pattern[at...].allSatisfy { $0 == "*" }
    }
}
